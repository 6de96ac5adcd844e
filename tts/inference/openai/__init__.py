"""The `openai` engine: endpoints that speak chat completions."""
