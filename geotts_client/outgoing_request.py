"""A request that left the machine: its receiver, its content, its time, and the request it was sent for."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import Field

from geotts_client.value import Value


class Outgoing(Value):
    """One HTTP request that left this machine: from a tool, for a photo at a URL, or to a remote engine. The record
    has no bodies. Each attempt at an engine is one record.
    """

    at: str = Field(description="when it was sent (RFC 3339, UTC)")
    host: str = Field(
        description="the receiver: a host, the address of a client that fetched a region, or the name of a local MCP "
        "server",
    )
    method: str = Field(
        description="HTTP method; `MCP` for a call of a tool of another MCP server; `OFFER`, `SERVE` and `WITHDRAW` "
        "for a region of the photo at an address of this service",
    )
    url: str = Field(description="address without keys; its query may be left out")
    bytes_sent: int = Field(description="size of the body in bytes")
    request_id: str = Field(default="", description="the request that it was sent for; empty if none is known")

    @classmethod
    def now(cls, *, host: str, method: str, url: str, bytes_sent: int, request_id: str) -> Outgoing:
        """Record a request with the present time.

        Args:
            host: the host that is asked.
            method: the HTTP method.
            url: the address, without keys.
            bytes_sent: size of the body in bytes.
            request_id: the request that it belongs to; "" for none.

        Returns:
            The record; `at` is in UTC, to the second.
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
        """Remove the query from the URL. The query of a signed URL contains a key.

        Returns:
            A copy whose `url` ends before the first `?` or `#`.
        """
        return self.model_copy(update={"url": self.url.partition("#")[0].partition("?")[0]})


def rfc3339(moment: datetime) -> str:
    """Write a moment in the form of `Outgoing.at`.

    Args:
        moment: in UTC, because it is not converted. Parts of a second are left out.

    Returns:
        A text such as `2026-01-31T12:00:00Z`. Texts in this form sort by time.
    """
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
