"""What left the machine: to whom, what, when, and for which request."""

from __future__ import annotations

from tts.domain.value import Value


class Outgoing(Value):
    """One request of a tool to a service. `at` is UTC (RFC 3339); keys are not in the URL, bodies not in the record."""

    at: str
    host: str
    method: str
    url: str
    bytes_sent: int
    request_id: str = ""
