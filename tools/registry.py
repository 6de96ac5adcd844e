"""All tools in one table. It decides which tools are served, which names requests may use, and what `geotts tools`
lists.

Adding a tool is one file and one entry here, or an entry point `geotts.tools` of another package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from tools.maps import MAP_TOOLS, MapsProvider, maps_tools
from tools.places import PLACE_TOOLS, CountryProvider, PlacesProvider, places_tools
from tools.read_text import read_text_tool
from tools.region_search.search import RegionSearch
from tools.region_search.tool import region_search_tool
from tools.web import ImageSearchProvider, WebProvider, image_search_tool, web_search_tool
from tools.zoom import zoom_tool
from tts.config.tools import ADDED_TOOLS
from tts.errors import ConfigError
from tts.net.fetch_limits import FetchLimits
from tts.net.http_client import SafeHttpClient
from tts.ports.perception import Perception
from tts.toolkit.spec import Tool


class OpenClient(Protocol):
    """Opens an HTTP client for a tool of another package."""

    def __call__(self, limits: FetchLimits | None = None) -> SafeHttpClient:
        """Open the client.

        Args:
            limits: of size and time, and hosts that may be private; the usual ones when absent.

        Returns:
            The client. It is closed with the tools.
        """


@dataclass(frozen=True, slots=True)
class ToolParts:
    """What tools are made of; None where the configuration or the place has none.

    `perception` is there beside an engine, the others in the broker.

    Attributes:
        perception: reads text in photos.
        places: finds places.
        countries: knows in which country a point lies.
        maps: draws maps.
        web: searches the web by text.
        recordings: recorded searches by picture, which are used in place of live ones.
        regions: searches by picture at live services.
        client: opens an HTTP client for tools of other packages. What it sends is listed in `left_machine` of the
            request that is named: `fetch(url, request_id=context.request.id)`.
    """

    perception: Perception | None = None
    places: PlacesProvider | None = None
    countries: CountryProvider | None = None
    maps: MapsProvider | None = None
    web: WebProvider | None = None
    recordings: ImageSearchProvider | None = None
    regions: RegionSearch | None = None
    client: OpenClient | None = None


@dataclass(frozen=True, slots=True)
class ToolFile:
    """The tools of one file.

    Attributes:
        names: the names of all tools that `make` may give.
        make: makes those for which the parts are there.
        local: whether they need the pixels and run beside the engine.
    """

    names: tuple[str, ...]
    make: Callable[[ToolParts], Sequence[Tool]]
    local: bool = False


def _reading_tools(parts: ToolParts) -> Sequence[Tool]:
    return [] if parts.perception is None else [read_text_tool(parts.perception)]


def _place_tools(parts: ToolParts) -> Sequence[Tool]:
    return [] if parts.places is None or parts.countries is None else places_tools(parts.places, parts.countries)


def _map_tools(parts: ToolParts) -> Sequence[Tool]:
    return [] if parts.maps is None else maps_tools(parts.maps)


def _image_search_tools(parts: ToolParts) -> Sequence[Tool]:
    """Recordings answer in place of live services."""
    if parts.recordings is not None:
        return [image_search_tool(parts.recordings)]
    return [] if parts.regions is None else [region_search_tool(parts.regions)]


def _web_search_tools(parts: ToolParts) -> Sequence[Tool]:
    return [] if parts.web is None else [web_search_tool(parts.web)]


TOOL_FILES: Final = (
    ToolFile(("image_zoom",), lambda parts: [zoom_tool()], local=True),
    ToolFile(("read_text",), _reading_tools, local=True),
    ToolFile(PLACE_TOOLS, _place_tools),
    ToolFile(MAP_TOOLS, _map_tools),
    ToolFile(("image_search",), _image_search_tools),
    ToolFile(("web_search",), _web_search_tools),
)


def tool_names() -> tuple[str, ...]:
    """Name all tools there may be, without making any: making them needs keys and data.

    Returns:
        Each name once: those of this table, then those of other packages.
    """
    return (*(name for file in TOOL_FILES for name in file.names), *ADDED_TOOLS)


def make_tools(parts: ToolParts, *, local: bool) -> list[Tool]:
    """Make the tools for one of the two places where tools run.

    Args:
        parts: what tools are made of; a part that is None leaves out the tools that need it.
        local: true: the tools that need the pixels and run beside the engine; false: those of the broker.

    Returns:
        All tools that the parts suffice for, those of other packages last.

    Raises:
        ConfigError: a tool of another package cannot be used.
    """
    added = [tool for name in ADDED_TOOLS if (tool := _make_added_tool(name, parts)).spec.local is local]
    return [*make_own_tools(parts, local=local), *added]


def make_own_tools(parts: ToolParts, *, local: bool) -> list[Tool]:
    """Make the tools of this table, without tools of other packages.

    Args:
        parts, local: as in `make_tools`.

    Returns:
        All tools that the parts suffice for, in the order of the table.
    """
    return [tool for file in TOOL_FILES if file.local is local for tool in file.make(parts)]


def _make_added_tool(name: str, parts: ToolParts) -> Tool:
    make: Callable[[ToolParts], Tool] = ADDED_TOOLS[name]
    tool = make(parts)
    if tool.spec.name != name or name in {own for file in TOOL_FILES for own in file.names}:
        raise ConfigError(
            f"the entry point {name!r} of geotts.tools brings a tool {tool.spec.name!r}: it needs its name"
        )
    return tool
