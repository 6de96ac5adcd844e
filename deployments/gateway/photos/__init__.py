"""Photos on their way in: fetched by URL, and decoded in a process of their own."""
