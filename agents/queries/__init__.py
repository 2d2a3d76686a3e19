"""Questions about the runtime. They read, take who asks first, and answer plain dicts."""
