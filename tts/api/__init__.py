"""What the service does with the values that travel: replies, SSE frames, the shapes of OpenAI's API."""
