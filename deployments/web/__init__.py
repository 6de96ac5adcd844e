"""The page at `/`: static files of the package, and the headers they go out with."""
