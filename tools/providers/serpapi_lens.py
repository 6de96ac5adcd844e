"""SerpApi: results of Google Lens for a picture at a URL. https://serpapi.com/google-lens-api

`GET /search.json?engine=google_lens&url=…&api_key=…`; hits come in `visual_matches`, and pages with this very picture
in `exact_matches` where Lens tells them. `no_cache`: what was found is not kept for others under the picture's URL.
Errors: https://serpapi.com/api-status-and-error-codes
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools.providers.plain_text import plain_text
from tools.providers.provider import Provider, UrlService
from tools.region_search.picture import RegionPicture
from tts.domain.request import RequestContext
from tts.domain.tooling import WebFact
from tts.net.http_client import HttpReply
from tts.toolkit.broker.provider_client import (
    KeyPlace,
    ProviderFailure,
    ProviderRequest,
    Reply,
    judge_status,
)
from tts.toolkit.broker.provider_limits import ProviderLimits

BASE_URL: Final = "https://serpapi.com"
KEY_PLACE: Final = KeyPlace("query", "api_key")
LIMITS: Final = ProviderLimits(per_s=2.0, burst=2.0, timeout_s=30.0, retries=1)
_NO_RESULTS = "hasn't returned any results"  # an error by name only: the search itself succeeded


class _Hit(Reply):
    title: str = ""
    link: str
    source: str = ""


class _Hits(Reply):
    visual_matches: tuple[_Hit, ...] = ()
    exact_matches: tuple[_Hit, ...] = ()
    error: str = ""


class SerpapiLens(UrlService):
    """The `RegionProvider` over SerpApi's Google Lens."""

    name: Final = "serpapi_lens"

    async def search_picture(self, picture: RegionPicture, *, limit: int, context: RequestContext) -> Sequence[WebFact]:
        """Pages with this very picture first, then those that look like it; each page once."""
        async with self._upload.lend(picture, context) as url:
            params = {"engine": "google_lens", "url": url, "no_cache": "true"}
            reply = await self._client.read(
                ProviderRequest(f"{self._base}/search.json", params), context, _Hits, _failure_of
            )
        exact = {hit.link for hit in reply.exact_matches}
        hits = {hit.link: hit for hit in (*reply.exact_matches, *reply.visual_matches)}
        return [
            WebFact(
                number=i,
                title=plain_text(hit.title),
                snippet=plain_text(hit.source),
                url=hit.link,
                source="SerpApi",
                same_picture=hit.link in exact,
            )
            for i, hit in enumerate(list(hits.values())[:limit], 1)
        ]


def judge(reply: HttpReply) -> ProviderFailure | None:
    """Too many requests an hour and no searches left are both 429; the body tells which.

    Args:
        reply: a whole reply of the service, of any status.

    Returns:
        What went wrong; None for a status below 400, where the body may still have an error.
    """
    if reply.status == 429 and b"run out of searches" in reply.content:
        return ProviderFailure("quota", "the searches of this key are used up")
    return judge_status(reply)


def _failure_of(reply: _Hits) -> ProviderFailure | None:
    """A search that failed comes with status 200 and an `error`; so does one that found nothing."""
    if not reply.error or _NO_RESULTS in reply.error:
        return None
    return ProviderFailure("passing", plain_text(reply.error, limit=200))


PROVIDER: Final = Provider(
    LIMITS,
    "SERPAPI_API_KEY",
    KEY_PLACE,
    judge,
    base_url=BASE_URL,
    regions_by_url=SerpapiLens,
    title="Google Lens",
)
