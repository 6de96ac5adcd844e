"""The service: its HTTP interface, its gateway, its Ray Serve deployments and its command line."""
