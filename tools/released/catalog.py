"""Which released tools a system has, and from which sources. Adding a system is two entries here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools.released.geoagent_geocoder import geocoder_tool
from tools.released.geovista.search import search_tool
from tools.released.geovista.zoom import zoom_tool as geovista_zoom
from tools.released.reverse.image_search import image_search_tool
from tools.released.reverse.lens import LensSource
from tools.released.reverse.page_source import PageSource as ReversePages
from tools.released.reverse.text_search import text_search_tool
from tools.released.reverse.training_searches import training_searches
from tools.released.reverse.training_zoom import training_zoom_tool
from tools.released.reverse.zoom import zoom_tool as reverse_zoom
from tools.released.sources.amap import AmapSource
from tools.released.sources.map_pictures import MapSource
from tools.released.sources.opencage import AddressSource
from tools.released.sources.serper import SerperSource
from tools.released.sources.web_pages import PageSource
from tools.released.thinking_with_map.demo_pictures import demo_maps, demo_zoom
from tools.released.thinking_with_map.demo_searches import demo_amap_searches, demo_google_searches
from tools.released.thinking_with_map.maps import amap_maps, google_maps
from tools.released.thinking_with_map.searches import amap_searches, google_searches
from tools.released.thinking_with_map.zoom import zoom_tool
from tts.ports.toolbox import ToolSchema
from tts.toolkit.reverse_cache.recorded_searches import ReverseCache
from tts.toolkit.spec import Tool

Texts = Sequence[ToolSchema]


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the tools of one system get their data. None where no configured provider has it.

    Attributes:
        amap: AMap's searches.
        serper: Google's searches.
        amap_maps: AMap's maps.
        google_maps: Google's maps.
        addresses: the geocoder of GeoAgent.
        pages: the web search of GeoVista.
        lens: the search by picture of REVERSE's evaluation.
        reverse_pages: the search by text of REVERSE's evaluation.
        recorded: the recorded searches of REVERSE's training.
    """

    amap: AmapSource
    serper: SerperSource
    amap_maps: MapSource
    google_maps: MapSource
    addresses: AddressSource
    pages: PageSource | None = None
    lens: LensSource | None = None
    reverse_pages: ReversePages | None = None
    recorded: ReverseCache | None = None


def _thinking_with_map_tools(sources: Sources, texts: Texts) -> list[Tool]:
    return [
        *amap_searches(sources.amap),
        *google_searches(sources.serper),
        *amap_maps(sources.amap_maps),
        *google_maps(sources.google_maps),
    ]


def _demo_tools(sources: Sources, texts: Texts) -> list[Tool]:
    return [
        *demo_amap_searches(sources.amap, texts),
        *demo_google_searches(sources.serper, texts),
        *demo_maps(sources.amap_maps, google=False, texts=texts),
        *demo_maps(sources.google_maps, google=True, texts=texts),
    ]


def _reverse_tools(sources: Sources, texts: Texts) -> list[Tool]:
    pictures = [] if sources.lens is None else [image_search_tool(sources.lens)]
    return [*pictures, text_search_tool(sources.reverse_pages)]


_BROKER_TOOLS: Final[Mapping[str, Callable[[Sources, Texts], list[Tool]]]] = {
    "thinking_with_map": _thinking_with_map_tools,
    "thinking_with_map_demo": _demo_tools,
    "geoagent": lambda sources, texts: [geocoder_tool(sources.addresses)],
    "geovista": lambda sources, texts: [] if sources.pages is None else [search_tool(sources.pages)],
    "reverse": _reverse_tools,
    "reverse_rl": lambda sources, texts: training_searches(sources.recorded or ReverseCache()),
}
_LOCAL_TOOLS: Final[Mapping[str, Callable[[Texts], list[Tool]]]] = {
    "thinking_with_map": lambda texts: [zoom_tool()],
    "thinking_with_map_demo": lambda texts: [demo_zoom(texts)],
    "geovista": lambda texts: [geovista_zoom()],
    "reverse": lambda texts: [reverse_zoom()],
    "reverse_rl": lambda texts: [training_zoom_tool()],
}
ANY_REPLY: Final = frozenset({"thinking_with_map_demo"})
"""Systems whose tools read refusals of a service as they came."""


def released_broker_tools(system: str, sources: Sources, texts: Texts = ()) -> list[Tool]:
    """Make the tools of a system that ask services.

    Args:
        system: the name of a released dialect, such as `reverse`; with the name of the loop where that is not the
            dialect's first one, as in `reverse_rl`.
        sources: where the tools get their data; a tool whose source is None may be left out.
        texts: the schemas of the tools as they are listed to the model. The tools of the notebook hold arguments
            against them and quote them in refusals; one that is not among them uses the schema that GeoTTS lists.

    Returns:
        The tools; none for systems without any.
    """
    make = _BROKER_TOOLS.get(system)
    return [] if make is None else make(sources, texts)


def released_local_tools(system: str, texts: Texts = ()) -> list[Tool]:
    """Make the tools of a system that need the pixels.

    Args:
        system, texts: as in `released_broker_tools`.

    Returns:
        The tools; none for systems without any.
    """
    make = _LOCAL_TOOLS.get(system)
    return [] if make is None else make(texts)
