"""The checks of `geotts doctor`: the installation, a profile, and the endpoint that serves it."""
