"""Tools of MCP servers that the operator names: a new connection for each call, limited results, and no facts for the
verifier."""
