"""Middleware around every route: the access log, CORS, `HEAD`, and headers that must not reach Ray."""
