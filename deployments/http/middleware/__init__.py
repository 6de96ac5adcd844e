"""What stands around every route: the access log, CORS, `HEAD`, and headers that are not for Ray."""
