"""What `geotts doctor` looks at: the installation, a profile and the endpoint that serves it."""
