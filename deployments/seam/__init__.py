"""The only package that uses internals of Ray, Serve and uvicorn: these may change with their versions (ADR 0028)."""
