"""Server-sent events as the service writes them, for tests of the client."""

from tts.api.sse_frame import HEARTBEAT, sse_frame

__all__ = ["HEARTBEAT", "sse_frame"]
