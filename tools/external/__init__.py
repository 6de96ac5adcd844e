"""Tools of MCP servers that the operator names: asked anew for each call, bounded, and never believed."""
