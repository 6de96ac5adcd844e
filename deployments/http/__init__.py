"""The HTTP face: routes, what they read and write, problems, and the OpenAPI schema."""
