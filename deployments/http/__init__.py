"""The HTTP interface: routes, requests and replies, problems, and the OpenAPI schema."""
