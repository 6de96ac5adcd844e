"""A request that left the machine: its receiver, its content, its time, and the request it was sent for."""

from __future__ import annotations

from datetime import UTC, datetime

from geotts_client.value import Value


class Outgoing(Value):
    """One HTTP request that left this machine: from a tool, for a photo at a URL, or to a remote engine. `at` is UTC
    (RFC 3339). The URL has no keys, and the record has no bodies. Each attempt at an engine is one record.
    """

    at: str
    host: str
    method: str
    url: str
    bytes_sent: int
    request_id: str = ""

    @classmethod
    def now(cls, *, host: str, method: str, url: str, bytes_sent: int, request_id: str) -> Outgoing:
        """A record with the present time.

        Args:
            host: the host that is asked.
            method: the HTTP method.
            url: the address, without keys.
            bytes_sent: size of the body in bytes.
            request_id: the request that it belongs to; "" for none.
        """
        return cls(
            at=rfc3339(datetime.now(UTC)),
            host=host,
            method=method,
            url=url,
            bytes_sent=bytes_sent,
            request_id=request_id,
        )

    def without_query(self) -> Outgoing:
        """A copy without the query of its URL. The query of a signed URL contains a key."""
        return self.model_copy(update={"url": self.url.partition("#")[0].partition("?")[0]})


def rfc3339(moment: datetime) -> str:
    """A moment in UTC in the form of `Outgoing.at`. Texts in this form sort by time.

    Args:
        moment: in UTC, because it is not converted. Parts of a second are left out.
    """
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
