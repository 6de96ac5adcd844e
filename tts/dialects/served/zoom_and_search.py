"""The two tools that GeoVista and SpotAgent declare alike: a zoom in pixels of the photo, and a web search."""

from __future__ import annotations

from typing import Final

from tts.dialects.served_tool import ServedTool, box_of_four, convert_box, keep_arguments

ZOOM_IN_PIXELS: Final = ServedTool(
    "image_zoom_in_tool",
    "image_zoom",
    "Enlarge a region of the photo.",
    {"bbox_2d": box_of_four("[x1, y1, x2, y2] in pixels of the photo")},
    ("bbox_2d",),
    convert_box,
)
SEARCH_WEB: Final = ServedTool(
    "search_web", "web_search", "Search the web for text.", {"query": {"type": "string"}}, ("query",), keep_arguments
)
