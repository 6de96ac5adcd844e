"""The names of all tools, so that a gateway can tell a wrong one without making any: making them needs keys and data.

Which of them a service offers is up to its providers; a test holds this list against what the catalogue makes.
"""

from __future__ import annotations

TOOL_NAMES = (
    "image_zoom",
    "read_text",
    "poi_keyword_search",
    "poi_input_tips",
    "poi_detail",
    "geocode",
    "reverse_geocode",
    "country_at",
    "static_map",
    "satellite_map",
    "web_search",
    "image_search",
)
