"""Whether the HTTP service keeps its promises to clients, also to those that stall, leave or send nonsense."""
