"""AMap's web services as the authors ask them, and a stand-in with the same form.

https://lbs.amap.com/api/webservice/guide/api/search (v3) and …/api-advanced/newpoisearch (v5). Points are GCJ-02.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from tools.places import PlacesProvider
from tools.providers import amap
from tools.providers.provider import ProviderParts, Service
from tools.released.sources.reply import RawReply, raw_reply
from tools.tool_provider import StandIn, ToolProvider
from tts.domain.request import RequestContext
from tts.domain.tooling import PlaceFact
from tts.geodata.datum import to_gcj02
from tts.net.http_client import HttpReply
from tts.toolkit.broker.provider_client import ProviderFailure, ProviderRequest, accept_any, judge_status

TIPS: Final = "v3/assistant/inputtips"
TEXT: Final = "v3/place/text"
DETAIL: Final = "v3/place/detail"
TEXT_V5: Final = "v5/place/text"
DETAIL_V5: Final = "v5/place/detail"
_MAX_RESULTS: Final = 15


class AmapSource(ToolProvider, Protocol):
    """Replies in AMap's form."""

    async def ask(self, service: str, parameters: Mapping[str, str], context: RequestContext) -> RawReply:
        """Ask a service.

        Args:
            service: a path, such as `TIPS`.
            parameters: those of the service, without a key.
            context: the request for which it is asked.

        Returns:
            The reply of the service, as it came.

        Raises:
            ToolError: no reply came.
        """
        ...


class AmapService(Service):
    """AMap itself.

    Args:
        parts: what the provider is made of.
        any_reply: whether refusals are passed on as they came, as the notebook's tools read them.
    """

    name: Final = "amap"

    def __init__(self, parts: ProviderParts, *, any_reply: bool) -> None:
        super().__init__(parts)
        self._judge = accept_any if any_reply else _judge

    async def ask(self, service: str, parameters: Mapping[str, str], context: RequestContext) -> RawReply:
        """Sent through the client, which adds the key. Raises ToolError; without `any_reply` for a refusal, too."""
        request = ProviderRequest(f"{self._base}/{service}", dict(parameters))
        return raw_reply(await self._client.ask(request, context, self._judge))


class AmapStandIn(StandIn[PlacesProvider]):
    """Another provider's places of China in AMap's form."""

    async def ask(self, service: str, parameters: Mapping[str, str], context: RequestContext) -> RawReply:
        """Only `keywords` or `id` of the parameters counts. At most 15 places of China, their points in GCJ-02."""
        if service in (DETAIL, DETAIL_V5):
            place = await self._provider.detail(parameters["id"], context=context)
            return _success_reply(pois=[] if place is None else [_poi(place)])
        query = parameters["keywords"]
        if service == TIPS:
            return _success_reply(
                tips=_pois(await self._provider.autocomplete(query, country="CN", limit=_MAX_RESULTS, context=context))
            )
        return _success_reply(
            pois=_pois(await self._provider.search(query, country="CN", limit=_MAX_RESULTS, context=context))
        )


def _success_reply(**found: list[dict[str, Any]]) -> RawReply:
    return RawReply(200, {"status": "1", "info": "OK", "infocode": "10000", **found})


def _pois(places: Sequence[PlaceFact]) -> list[dict[str, Any]]:
    return [_poi(place) for place in places]


def _poi(place: PlaceFact) -> dict[str, Any]:
    """AMap writes [] for what it does not have."""
    point = None if place.point is None else to_gcj02(place.point)
    return {
        "id": place.id,
        "name": place.name,
        "location": "" if point is None else f"{point.lon:.6f},{point.lat:.6f}",
        "address": place.address or place.admin1 or [],
        "typecode": [],
        "city": [],
        "cityname": place.admin1 or [],
        "business_area": [],
        "type": place.place_kind or [],
        "alias": [],
    }


def _judge(reply: HttpReply) -> ProviderFailure | None:
    """AMap's refusals come with status 200 and a code; keys and quotas are handled by the client."""
    if (failure := judge_status(reply)) is not None:
        return failure
    try:
        return amap.failure_in(reply.content)
    except ValueError:
        return ProviderFailure("passing", "the reply cannot be read")
