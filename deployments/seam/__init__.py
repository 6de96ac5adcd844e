"""The only package that uses internals of Ray, Serve and uvicorn: what may change with their versions (ADR 0028)."""
