"""The pictures of the notebook: maps of any point, and a zoom that scales what it cuts out. None has a text.

Zoom (image_zoom_in_qwen3vl.py): 0 to 1000, cut at the edge, a box below 32 pixels grows, sides in multiples of 32, at
least 262,144 pixels. A number out of range picks no picture. Earlier crops cannot be zoomed into, the photo only.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, Final

from PIL import Image

from tools.maps import Style
from tools.released.picture import attach_picture, picture_observation, png, size_of, view_of
from tools.released.sources.map_pictures import MapSource, Marker
from tools.released.thinking_with_map.demo_arguments import demo_arguments, failed_as
from tools.released.written_arguments import WrittenArguments, spec_of_written, verbatim_error
from tts.dialects.released.thinking_with_map.demo import demo_tool
from tts.domain.photo import Photo
from tts.domain.picture_rules import ResizeRule
from tts.domain.tooling import ViewFact
from tts.errors import ToolError
from tts.ports.toolbox import ToolContext, ToolSchema
from tts.toolkit.spec import FunctionTool, Observation, Tool, ToolSpec

_MIN_SIDE_PX: Final = 32
_NO_PICTURE: Final = "截图失败或未返回数据"
_CROP_RULE: Final = ResizeRule(min_pixels=256 * 32 * 32, max_pixels=12_845_056, multiple=32)
_BOX_ERRORS: Final = (TypeError, ValueError, ZeroDivisionError, OverflowError, OSError, MemoryError)
Pixels = tuple[float, float, float, float]


def demo_maps(source: MapSource, *, google: bool, texts: Sequence[ToolSchema] = ()) -> list[Tool]:
    """Make the maps of the notebook.

    Args:
        source: where the pictures come from; the model states points in its datum.
        google: true: Google's map; false: AMap's.
        texts: the schemas of the tools as they are listed to the model. Arguments are held against them, and a refusal
            quotes them. A tool that is not among them uses the schema that GeoTTS lists.

    Returns:
        AMap's two maps, or Google's one, which has a red S at the point.
    """
    if google:
        return [_map_tool("google_static_map", "map", source, texts)]
    return [
        _map_tool("amap_static_map", "map", source, texts),
        _map_tool("amap_satellite_map", "satellite", source, texts),
    ]


def demo_zoom(texts: Sequence[ToolSchema] = ()) -> Tool:
    """Make the zoom of the notebook.

    Args:
        texts: as in `demo_maps`.

    Returns:
        The tool, which may be called for any of the photos.
    """
    served = demo_tool("image_zoom_in_tool")
    schema = next((text.parameters for text in texts if text.name == served.name), served.schema().parameters)

    async def zoom(arguments: WrittenArguments, context: ToolContext) -> Observation:
        parameters = demo_arguments(served.name, arguments.written, schema)
        photo = _chosen_photo(context.photos, parameters["img_idx"])
        try:
            crop, region = await asyncio.to_thread(_crop_photo, photo, parameters["bbox_2d"])
        except _BOX_ERRORS as error:
            raise verbatim_error(f"Tool Execution Error {error}") from error
        return picture_observation(png(crop), view_of(photo, context.photos.index(photo), region))

    spec = ToolSpec(served.target, "image_zoom_in_tool of the notebook, as released", local=True, provider="photo")
    return FunctionTool(spec, WrittenArguments, zoom)


def _map_tool(name: str, style: Style, source: MapSource, texts: Sequence[ToolSchema]) -> Tool:
    served = demo_tool(name)
    schema = next((text.parameters for text in texts if text.name == name), served.schema().parameters)

    async def show(arguments: WrittenArguments, context: ToolContext) -> Observation:
        point = demo_arguments(name, arguments.written, schema)
        marker: Marker = "red_s" if name.startswith("google") else "none"
        try:
            made = await source.picture(
                style, point["latitude"], point["longitude"], marker=marker, context=context.request
            )
        except ToolError as error:
            raise failed_as(name, "RuntimeError", _NO_PICTURE, error.kind) from error
        if (size := size_of(made.data)) is None:
            raise failed_as(name, "RuntimeError", _NO_PICTURE)
        picture = attach_picture(made.data, size, made.media_type, f"{style} map")
        return picture_observation(picture, (ViewFact(image=picture[0], zoom=made.zoom, source=source.name),))

    spec = spec_of_written(
        served.target,
        f"{name} of the notebook, as released",
        source,
    )
    return FunctionTool(spec, WrittenArguments, show)


def _chosen_photo(photos: Sequence[Photo], index: Any) -> Photo:
    """Counted as Python counts, from the end too. Raises ToolError in the words of the tool."""
    try:
        photo: Photo = photos[index]
    except (IndexError, TypeError):
        names = ["photo.jpg" if i == 0 else f"photo_{i}.jpg" for i in range(len(photos))]
        raise verbatim_error(f"Error: Invalid input image {names}") from None
    return photo


def _crop_photo(photo: Photo, box: Sequence[Any]) -> tuple[Image.Image, Pixels]:
    x0, y0, x1, y1 = box
    wide, high = photo.width, photo.height
    region = _crop_region(x0 / 1000.0 * wide, y0 / 1000.0 * high, x1 / 1000.0 * wide, y1 / 1000.0 * high, photo)
    left, top, right, bottom = region
    crop = photo.image().crop(region)
    return crop.resize(_CROP_RULE.size(right - left, bottom - top), Image.Resampling.BICUBIC), region


def _crop_region(left: float, top: float, right: float, bottom: float, photo: Photo) -> Pixels:
    """Cut at the edge; grown around its centre where it is small, if that makes it large enough."""
    left, top, right, bottom = max(0, left), max(0, top), min(photo.width, right), min(photo.height, bottom)
    wide, high = right - left, bottom - top
    if high >= _MIN_SIDE_PX and wide >= _MIN_SIDE_PX:
        return left, top, right, bottom
    ratio = _MIN_SIDE_PX / min(high, wide)
    half_high, half_wide = math.ceil(high * ratio * 0.5), math.ceil(wide * ratio * 0.5)
    across, down = (left + right) / 2.0, (top + bottom) / 2.0
    grown = (
        max(0, math.floor(across - half_wide)),
        max(0, math.floor(down - half_high)),
        min(photo.width, math.ceil(across + half_wide)),
        min(photo.height, math.ceil(down + half_high)),
    )
    large_enough = grown[3] - grown[1] > _MIN_SIDE_PX and grown[2] - grown[0] > _MIN_SIDE_PX
    return grown if large_enough else (left, top, right, bottom)
