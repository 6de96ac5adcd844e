"""The geocoder of GeoAgent's reward, which looks its answers up here: the model has no tools (swift/plugin/orm.py)."""

from __future__ import annotations

import json

from tools.providers.opencage import place_found
from tools.released.sources.opencage import AddressSource
from tools.released.written_arguments import verbatim_error
from tts.dialects.released.geoagent_loop import GEOCODER
from tts.domain.geo import LatLon
from tts.errors import ToolErrorKind
from tts.ports.toolbox import ToolContext
from tts.rewards.released.geoagent_geocoder import Result, ask
from tts.toolkit.spec import Arguments, FunctionTool, Observation, Tool, ToolSpec

_NOTHING_FOUND = 200  # the status of a reply without results


class WrittenAddress(Arguments):
    """An answer as the model wrote it: country first, its parts between semicolons."""

    address: str


def geocoder_tool(source: AddressSource) -> Tool:
    """Make the geocoder of GeoAgent.

    Args:
        source: what is asked; its replies have OpenCage's form.

    Returns:
        A tool that asks for the whole address, and then without its last part as long as nothing is found.
    """

    async def geocode(arguments: WrittenAddress, context: ToolContext) -> Observation:
        conversation = ask(arguments.address)
        asked = next(conversation)
        while True:
            reply = await source.ask(asked, context.request)
            try:
                asked = conversation.send(reply)
            except StopIteration as stop:
                return _make_observation(stop.value)

    spec = ToolSpec(
        GEOCODER,
        "the geocoder of GeoAgent, as released",
        provider=source.name,
        needs_network=source.needs_network,
        exact=frozenset({"address"}),
    )
    return FunctionTool(spec, WrittenAddress, geocode)


def _make_observation(result: Result) -> Observation:
    text = json.dumps(result, ensure_ascii=False)
    if result["status"] != "success":
        missing = result["code"] == _NOTHING_FOUND
        raise verbatim_error(text, ToolErrorKind.NOT_FOUND if missing else ToolErrorKind.UNAVAILABLE)
    try:
        point = LatLon(lat=result["latitude"], lon=result["longitude"])
    except ValueError:
        raise verbatim_error(text, ToolErrorKind.UNAVAILABLE) from None
    place = place_found(result["formatted_address"], point, result["components"], result["confidence"])
    return Observation(text=text, facts=(place,))
