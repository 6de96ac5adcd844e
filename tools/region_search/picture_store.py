"""Pictures in a store that the search service can read: one PUT before the call, one DELETE after it.

The name has 256 bits of chance. `picture_addresses.py` has the URLs of the store and what authorises a request.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tools.region_search.picture import MEDIA_TYPE, RegionPicture
from tools.region_search.picture_addresses import Places
from tts.aio import run_to_end
from tts.domain.request import RequestContext
from tts.errors import FetchError, ToolError, ToolErrorKind
from tts.net.http_client import SafeHttpClient
from tts.net.secret import Secret

_PUT_TIMEOUT_S = 10.0
_DELETE_TIMEOUT_S = 5.0
_GONE_STATUSES = frozenset({404, 410})
_DELETE_ATTEMPTS = 2
_log = logging.getLogger(__name__)


class StoredRegions:
    """The `RegionUpload` over such a store. Every PUT and DELETE is in the client's record.

    Args:
        places: the URLs of the store; its secrets are hidden from all that is reported.
        client: sends the requests.
    """

    def __init__(self, places: Places, client: SafeHttpClient) -> None:
        self._places = places
        self._client = client
        for secret in places.secrets:
            client.scrubber.learn(secret)

    @asynccontextmanager
    async def lend(self, picture: RegionPicture, context: RequestContext) -> AsyncIterator[str]:
        """The store's URL for the picture. A DELETE that fails is logged as an error and not raised."""
        key = secrets.token_urlsafe(32)
        name = f"{key}.jpg"
        with self._client.scrubber.hide(Secret(key)):
            try:
                await self._put(name, picture, context)
                yield self._places.public_url(name)
            finally:  # also of a PUT that failed or was cut off: it may have arrived
                await run_to_end(self._delete(name, context), name="delete a region")

    async def _put(self, name: str, picture: RegionPicture, context: RequestContext) -> None:
        target = self._places.target("PUT", name)
        try:
            await self._client.fetch(
                target.url,
                method="PUT",
                headers={**target.headers, "content-type": MEDIA_TYPE, "cache-control": "no-store"},
                content=picture.data,
                credential=target.credential,
                timeout_s=_PUT_TIMEOUT_S,
                request_id=context.id,
            )
        except FetchError as error:
            detail = f"the picture could not be uploaded: {error.detail}"
            raise ToolError(detail, kind=ToolErrorKind.UNAVAILABLE) from error

    async def _delete(self, name: str, context: RequestContext) -> None:
        """Tried twice. Never raises: the search is over, and the operator has to know."""
        for _ in range(_DELETE_ATTEMPTS):
            target = self._places.target("DELETE", name)
            try:
                reply = await self._client.fetch(
                    target.url,
                    method="DELETE",
                    credential=target.credential,
                    timeout_s=_DELETE_TIMEOUT_S,
                    any_status=True,
                    request_id=context.id,
                )
            except FetchError as error:
                why = error.detail
                continue
            if 200 <= reply.status < 300 or reply.status in _GONE_STATUSES:
                return
            why = f"the store answered {reply.status}"
        _log.error("a picture is still in the store, delete %s: %s", name, why, extra={"request_id": context.id})
