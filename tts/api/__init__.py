"""The HTTP form of the shared values: replies, SSE frames, the format of OpenAI's API."""
