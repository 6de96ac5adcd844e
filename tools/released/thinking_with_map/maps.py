"""The maps of the training loop: a picture, and a text that names the point as it was written (map_tool.py:411-453)."""

from __future__ import annotations

from typing import Any, TypeGuard

from tools.maps import Style
from tools.released.picture import attach_picture, picture_observation, size_of
from tools.released.sources.map_pictures import MapSource
from tools.released.thinking_with_map.texts import SYSTEM, no_picture, no_point, object_of
from tools.released.written_arguments import WrittenArguments, spec_of_written
from tts.dialects.released.tool_name import released_tool_name
from tts.domain.geo import LatLon
from tts.domain.tooling import ViewFact
from tts.errors import ToolError, ToolErrorKind
from tts.geodata.datum import as_wgs84
from tts.ports.toolbox import ToolContext
from tts.toolkit.spec import FunctionTool, Observation, Tool


def amap_maps(source: MapSource) -> list[Tool]:
    """Make the maps of the training with AMap.

    Args:
        source: where the pictures of both styles come from.

    Returns:
        `amap_static_map` and `amap_satellite_map`. The model states points in the datum of `source`.
    """
    return [_map_tool("amap_static_map", "static_map", "map", source),
            _map_tool("amap_satellite_map", "satellite_map", "satellite", source)]  # fmt: skip


def google_maps(source: MapSource) -> list[Tool]:
    """Make the map of the training with Google.

    Args:
        source: where the pictures come from.

    Returns:
        `google_static_map` alone. The model states points in the datum of `source`.
    """
    return [_map_tool("google_static_map", "static_map", "map", source)]


def _map_tool(name: str, ability: str, style: Style, source: MapSource) -> Tool:
    async def show(arguments: WrittenArguments, context: ToolContext) -> Observation:
        parameters = object_of(arguments.written)
        lat, lon = parameters.get("latitude"), parameters.get("longitude")
        if not _is_degrees(lat) or not _is_degrees(lon):
            raise no_point()
        try:
            made = await source.picture(style, lat, lon, marker="none", context=context.request)
        except ToolError as error:
            raise no_picture(error.kind) from error
        if (size := size_of(made.data)) is None:
            raise no_picture(ToolErrorKind.UNAVAILABLE)
        picture = attach_picture(made.data, size, made.media_type, f"{style} {lat}, {lon}")
        point = as_wgs84(LatLon(lat=lat, lon=lon), source.datum) if abs(lat) <= 90 and abs(lon) <= 180 else None
        view = ViewFact(image=picture[0], point=point, zoom=made.zoom, source=source.name)
        return picture_observation(picture, (view,), f"The nearby area map of ({lat}, {lon}).")

    spec = spec_of_written(
        released_tool_name(ability, SYSTEM, name),
        f"{name} of Thinking with Map, as released",
        source,
    )
    return FunctionTool(spec, WrittenArguments, show)


def _is_degrees(value: Any) -> TypeGuard[float]:
    """Whole numbers and zero are refused, as released."""
    return isinstance(value, float) and bool(value)
