"""The released sets of tools, in the order in which they are listed (verl/geoagent_scripts/config/*.yaml).

Keys and types of the schemas are those that reach the model after the released loading code has dropped the keys it
does not know. The descriptions are the project's own; those of the authors come with `geotts profile import`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tts.dialects.released.tool_name import released_tool_name
from tts.dialects.served_tool import ServedTool, keep_arguments

SYSTEM: Final = "thinking_with_map"
_BOX: Final[dict[str, Any]] = {
    "bbox_2d": {
        "type": "array",
        "description": "the region as [x1, y1, x2, y2], each side of the photo from 0 to 1000",
    },
    "label": {"type": "string", "description": "what you expect to see there"},
}
_QUERY: Final[dict[str, Any]] = {"query": {"type": "string", "description": "what to look for"}}
_ID: Final[dict[str, Any]] = {"query": {"type": "string", "description": "the id of a place"}}
_POINT: Final[dict[str, Any]] = {
    "latitude": {"type": "number", "description": "signed decimal degrees"},
    "longitude": {"type": "number", "description": "signed decimal degrees"},
}


# the ability behind each name, and what it does
TOOLS: Final[Mapping[str, tuple[str, str]]] = {
    "image_zoom_in_tool": ("image_zoom", "Enlarge a region of the photo."),
    "amap_input_tips": ("poi_input_tips", "Complete a place name in China."),
    "amap_keyword_search": ("poi_keyword_search", "Find places in China by name."),
    "amap_poi_detail": ("poi_detail", "Details and position of a place in China."),
    "amap_static_map": ("static_map", "A street map around a point in China."),
    "amap_satellite_map": ("satellite_map", "A satellite picture around a point in China."),
    "google_search": ("web_search", "Search the web."),
    "google_map_search": ("poi_keyword_search", "Find places outside China by name."),
    "google_static_map": ("static_map", "A street map around a point outside China."),
    "web_search": ("web_search", "Search the web."),
}


def _make_tool(name: str, properties: dict[str, Any]) -> ServedTool:
    ability, description = TOOLS[name]
    required = ("latitude", "longitude") if properties is _POINT else (next(iter(properties)),)
    return ServedTool(
        name, released_tool_name(ability, SYSTEM, name), description, properties, required, keep_arguments
    )


_ZOOM: Final = _make_tool("image_zoom_in_tool", _BOX)
TOOL_SETS: Final[Mapping[str, tuple[ServedTool, ...]]] = {
    "amap": (
        _ZOOM,
        _make_tool("amap_input_tips", _QUERY),
        _make_tool("amap_keyword_search", _QUERY),
        _make_tool("amap_poi_detail", _ID),
        _make_tool("amap_static_map", _POINT),
        _make_tool("amap_satellite_map", _POINT),
    ),
    "google": (
        _ZOOM,
        _make_tool("google_search", _QUERY),
        _make_tool("google_map_search", _QUERY),
        _make_tool("google_static_map", _POINT),
    ),
    "zoom_and_search": (_ZOOM, _make_tool("web_search", _QUERY)),
    "zoom_only": (_ZOOM,),
}
BY_PLACE: Final = "place"
