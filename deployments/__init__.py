"""The service: its HTTP face, its gateway, its Ray Serve deployments and its command line."""
