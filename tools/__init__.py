"""The toolbox of GeoTTS: the explicit list of tools, and which of them run beside the engine.

Adding a tool is one file and one entry here. Nothing registers itself at import time.
"""

from __future__ import annotations

from collections.abc import Sequence

from tools.maps import maps_tools
from tools.places import places_tools
from tools.providers.offline import OfflinePlaces
from tools.providers.offline_maps import OfflineMaps
from tools.read_text import read_text_tool
from tools.released.catalog import released_local_tools
from tools.zoom import zoom_tool
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Gazetteer
from tts.geodata.maps.cartographer import Cartographer
from tts.ports import Perception, ToolSchema
from tts.toolkit.spec import Tool

__all__ = ["broker_tools", "local_tools"]


def local_tools(perception: Perception, system: str = "", texts: Sequence[ToolSchema] = ()) -> list[Tool]:
    """Tools that need the pixels: they run where the rollout runs. Those of a released `system` come beside ours."""
    return [zoom_tool(), read_text_tool(perception), *released_local_tools(system, texts)]


def broker_tools(gazetteer: Gazetteer, countries: Countries, cartographer: Cartographer) -> list[Tool]:
    """Tools behind the broker: whatever needs a cache, a key, a limit, or large data."""
    places = OfflinePlaces(gazetteer, countries)
    return [*places_tools(places, places), *maps_tools(OfflineMaps(cartographer))]
