"""The page at `/`: static files of the package, and their response headers."""
