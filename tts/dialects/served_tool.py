"""A tool of ours under the name, description and arguments a model was trained with."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tts.dialects.coordinate_parser import point_from
from tts.dialects.settings import Coords
from tts.domain.photo import Photo
from tts.domain.picture_rules import ResizeRule
from tts.domain.tooling import Datum, ToolCall
from tts.geodata.datum import as_wgs84
from tts.ports.toolbox import ToolSchema

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """In what terms a model speaks of places: its boxes, the photos they lie in, the datum of its points."""

    photos: tuple[Photo, ...] = ()
    coords: Coords = "fraction"
    rule: ResizeRule = field(default_factory=ResizeRule)
    datum: Datum = "WGS-84"


Convert = Callable[[Arguments, Frame], Arguments]


@dataclass(frozen=True, slots=True)
class ServedTool:
    """`convert` turns the model's arguments into ours; what it cannot read it leaves for the tool to refuse."""

    name: str
    target: str
    description: str
    properties: dict[str, Any]
    required: tuple[str, ...]
    convert: Convert

    def schema(self) -> ToolSchema:
        """The tool as the model is shown it."""
        parameters = {"type": "object", "properties": self.properties, "required": list(self.required)}
        return ToolSchema(name=self.name, description=self.description, parameters=parameters)

    def signature(self) -> str:
        """`name(a, b?)`, for telling a model what it got wrong."""
        shown = (key if key in self.required else f"{key}?" for key in self.properties)
        return f"{self.name}({', '.join(shown)})"

    def to_own_call(self, call: ToolCall, frame: Frame) -> ToolCall:
        """The call under the name and with the arguments of our tool; its id stays."""
        arguments = self.convert(dict(call.arguments), frame)
        return call.model_copy(update={"name": self.target, "arguments": arguments})


def box_of_four(description: str) -> dict[str, Any]:
    """The schema of a box that is four numbers."""
    four = {"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4}
    return {**four, "description": description}


def convert_box(arguments: Arguments, frame: Frame) -> Arguments:
    """`bbox_2d` (or `bbox`) into fractions of the photo's sides; the rest stays."""
    rest = {key: value for key, value in arguments.items() if key not in ("bbox_2d", "bbox")}
    box = arguments.get("bbox_2d", arguments.get("bbox"))
    return {**rest, "bbox": _fractions(_unwrapped(box), arguments.get("photo", 0), frame)}


def at_zoom(zoom: float) -> Convert:
    """A point in the model's datum, as numbers or texts, to a map of a fixed zoom around it in ours."""

    def convert(arguments: Arguments, frame: Frame) -> Arguments:
        lat, lon = arguments.get("latitude"), arguments.get("longitude")
        if (stated := point_from(lat, lon)) is not None:
            point = as_wgs84(stated, frame.datum)
            lat, lon = point.lat, point.lon
        return {"latitude": lat, "longitude": lon, "zoom": zoom}

    return convert


def rename_arguments(**names: str) -> Convert:
    """Arguments under other names: `rename_arguments(query="poi_id")`."""
    return lambda arguments, frame: {names.get(key, key): value for key, value in arguments.items()}


def keep_arguments(arguments: Arguments, frame: Frame) -> Arguments:
    """For tools whose arguments are ours already."""
    return arguments


def _unwrapped(box: Any) -> Any:
    """A box that stands in a text, or alone in a list of boxes; anything else as it is."""
    read = box
    if isinstance(box, str):
        try:
            read = json.loads(box)
        except (ValueError, RecursionError):
            return box
    if isinstance(read, list) and len(read) == 1:
        return read[0]
    return read if isinstance(read, list) else box


def _fractions(box: Any, photo: Any, frame: Frame) -> Any:
    """Four numbers as fractions, a box that sticks out by rounding cut at the edge; anything else as it is."""
    if not isinstance(box, list | tuple) or len(box) != 4 or not all(_is_number(side) for side in box):
        return box
    wide, high = _extent(photo, frame)
    scaled = [side / extent for side, extent in zip(box, (wide, high, wide, high), strict=True)]
    return [min(1.0, max(0.0, side)) if -0.05 <= side <= 1.05 else side for side in scaled]


def _extent(photo: Any, frame: Frame) -> tuple[float, float]:
    """What 1.0 is in the model's numbers, across and down."""
    if frame.coords == "thousand":
        return 1000.0, 1000.0
    if frame.coords == "pixels" and isinstance(photo, int) and 0 <= photo < len(frame.photos):
        width, height = frame.rule.size(frame.photos[photo].width, frame.photos[photo].height)
        return float(width), float(height)
    return 1.0, 1.0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
