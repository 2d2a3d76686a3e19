"""What pages, tools and the API read of the tracker. Nothing here writes."""
