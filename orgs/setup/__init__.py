"""The first run: from an empty store to a company that works."""
