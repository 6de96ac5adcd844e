"""The HTTP server itself: its socket, its connections and its limits."""
