"""The broker caches, joins, limits and counts tool calls. Start reading in `broker.py`, then `provider_client.py`."""
