"""Fetches photos by URL. `SafeHttpClient` makes fetching safe; this module has only the limits."""

from __future__ import annotations

from deployments.config import GatewayConfig
from tts.net.fetch_limits import FetchLimits
from tts.net.http_client import SafeHttpClient

_CONTENT_TYPES = ("image/", "application/octet-stream", "binary/octet-stream")


class PhotoFetcher:
    """Fetches one photo at a time per call; `aclose()` when done."""

    def __init__(self, config: GatewayConfig) -> None:
        self._client = SafeHttpClient(
            FetchLimits(
                max_bytes=config.photo.max_bytes,
                timeout_s=min(15.0, config.fetch_timeout_s),
                allow_hosts=frozenset(config.fetch_hosts),
            ),
            record_query=False,
        )

    async def fetch(self, url: str, *, request_id: str) -> bytes:
        """The bytes behind a public http or https URL: a `PhotoSource`. Raises FetchError."""
        found = await self._client.fetch(url, content_types=_CONTENT_TYPES, request_id=request_id)
        return found.content

    async def aclose(self) -> None:
        """Close the connections of the HTTP client."""
        await self._client.aclose()
