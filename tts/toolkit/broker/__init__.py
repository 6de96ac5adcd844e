"""The broker: tool calls that are cached, joined, limited and counted. Start reading in `broker.py` and `outlet.py`."""
