"""MCP servers as a source of tools: children, what they offer, and what calls bring back."""
