"""Thinking-with-Map 30B-A3B: an agent in the map loop (Qwen3-VL, hermes calls, a JSON answer).

Tools carry the names of the released checkpoint: AMap's for China, Google's elsewhere. It was trained on AMap's answers
as they come, so everything it reads and writes is GCJ-02: points are turned at this border, once each way. Search
results have no coordinates, only the details of a place do. The token limit covers the trajectory after the prompt.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from tts.dialects.base import ParsedTurn
from tts.dialects.json_answer_parser import answer_from_json
from tts.dialects.released.thinking_with_map.demo import ThinkingWithMapDemo
from tts.dialects.released.thinking_with_map.dialect import ReleasedThinkingWithMap
from tts.dialects.released.thinking_with_map.own_prompt import QUESTION, SYSTEM
from tts.dialects.released.thinking_with_map.tool_sets import TOOLS
from tts.dialects.served_tool import (
    Convert,
    ServedTool,
    at_zoom,
    box_of_four,
    convert_box,
    keep_arguments,
    rename_arguments,
)
from tts.dialects.settings import DialectSettings, SamplingSettings
from tts.dialects.text_dialect import TextDialect, released_loop
from tts.domain.geo import LatLon
from tts.domain.picture_rules import PictureRules, ResizeRule
from tts.domain.plan import Limits
from tts.domain.tooling import Datum, PlaceFact, ViewFact
from tts.geodata.datum import to_gcj02
from tts.ports.toolbox import ToolOutcome

_MAP_ZOOM: Final = 19.0
_BOX: Final[dict[str, Any]] = {
    "bbox_2d": box_of_four("the region as [x1, y1, x2, y2] in the original photo, each side from 0 to 1000"),
    "label": {"type": "string", "description": "what you expect to see there"},
}
_QUERY: Final[dict[str, Any]] = {"query": {"type": "string", "description": "name of a place or a business"}}
_ID: Final[dict[str, Any]] = {"query": {"type": "string", "description": "id of a place from an earlier result"}}
_POINT: Final[dict[str, Any]] = {"latitude": {"type": "number"}, "longitude": {"type": "number"}}


def _make_tool(name: str, properties: dict[str, Any], convert: Convert = keep_arguments) -> ServedTool:
    ability, description = TOOLS[name]
    required = ("latitude", "longitude") if properties is _POINT else (next(iter(properties)),)
    return ServedTool(name, ability, description, properties, required, convert)


_RELEASED_DIALECTS: Final[dict[str, TextDialect]] = {
    "verl": ReleasedThinkingWithMap(),
    "demo": ThinkingWithMapDemo(),
}


class ThinkingWithMapDialect(TextDialect):
    """Qwen3-VL boxes (0 to 1000), one call a turn, at most 8 turns and 4,096 tokens of trajectory."""

    name = "thinking_with_map"
    system = SYSTEM
    question = QUESTION
    own_limits = Limits(max_turns=8, max_tool_calls=8, max_tokens=4096)
    own_turn_tokens = 4096
    own_pictures = PictureRules(photo=ResizeRule(min_pixels=40_000, max_pixels=2_000_000))
    own_datum: ClassVar[Datum] = "GCJ-02"
    own_single_sampling = SamplingSettings(temperature=0.7, top_p=0.8, top_k=20)
    own_group_sampling = SamplingSettings(temperature=1.0, top_p=0.95, top_k=60)
    counts_observations = True
    text_chars = 1024
    output_demand = "Call one tool or answer with the JSON object."
    answer_demand = "Answer with the JSON object now, from what you have seen."
    served = (
        _make_tool("image_zoom_in_tool", _BOX, convert_box),
        _make_tool("amap_input_tips", _QUERY),
        _make_tool("amap_keyword_search", _QUERY),
        _make_tool("amap_poi_detail", _ID, rename_arguments(query="poi_id")),
        _make_tool("amap_static_map", _POINT, at_zoom(_MAP_ZOOM)),
        _make_tool("amap_satellite_map", _POINT, at_zoom(_MAP_ZOOM)),
        _make_tool("google_search", _QUERY),
        _make_tool("google_map_search", _QUERY),
        _make_tool("google_static_map", _POINT, at_zoom(_MAP_ZOOM)),
    )

    def as_released(self, settings: DialectSettings) -> TextDialect:
        """The loop of training and evaluation (`verl`, the default) or that of the notebook (`demo`)."""
        return released_loop(self.name, settings.released_path, _RELEASED_DIALECTS)

    def read(self, reply: str, *, turn: int) -> ParsedTurn | None:
        """The last JSON object that states an answer, its point in the datum of the model."""
        answer = answer_from_json(reply)
        return None if answer is None else ParsedTurn(answer=answer.model_copy(update={"datum": self.datum}))

    def result_text(self, outcome: ToolOutcome) -> str:
        """Places by id, name and address; the details of one with `location` as "lon,lat" in the model's datum."""
        result = outcome.result
        views = [fact for fact in result.facts if isinstance(fact, ViewFact) and fact.point is not None]
        if result.ok and views:
            return f"The map around {self._lon_lat_text(views[0].point)}."
        places = [fact for fact in result.facts if isinstance(fact, PlaceFact)]
        if not result.ok or not places:
            return super().result_text(outcome)
        if result.name == "amap_poi_detail":
            return "\n".join(self._detail_text(place) for place in places[:1])
        return "\n".join(f"id: {place.id}, name: {place.name}, address: {_address(place)}" for place in places)

    def _detail_text(self, place: PlaceFact) -> str:
        lines = [f"id: {place.id}", f"name: {place.name}", f"address: {_address(place)}"]
        if place.point is not None:
            lines.append(f"location: {self._lon_lat_text(place.point)}")
        return "\n".join(lines)

    def _lon_lat_text(self, point: LatLon | None) -> str:
        """A point of a tool in the datum of the model."""
        if point is not None and self.datum == "GCJ-02":
            point = to_gcj02(point)
        return "" if point is None else f"{point.lon:.6f},{point.lat:.6f}"


def _address(place: PlaceFact) -> str:
    return place.address or ", ".join(part for part in (place.admin1, place.country_code) if part)
