"""What an OpenAI-compatible endpoint takes and refuses, and how a request changes so that the endpoint serves it."""
