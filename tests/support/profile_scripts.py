"""What a model of each published profile says, from a photo to the same place: Otaru, or Hefei for a model of China."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from support.endpoint import chunk, text_chunks
from tts.domain.geo import LatLon

OTARU = LatLon(lat=43.19, lon=140.99)
HEFEI = LatLon(lat=31.82, lon=117.23)


def _call(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


_SEARCH_CALL = {"name": "poi_keyword_search", "arguments": '{"query": "Otaru"}'}
_LEVEL_FIELDS = {"Clues": ["kanji"], "Reasoning": "Japanese signs.", "Uncertainty": "Low"}
_PLACE_BY_LEVEL = {"CountryIdentification": "Japan", "RegionalGuess": "Hokkaido", "PreciseLocalization": "Otaru"}

# profile → its turns; a turn is a text, or the steps of a stream
TURNS: dict[str, tuple[str | list[Any], ...]] = {
    **{
        preset: (
            text_chunks(
                "A sign.", chunk(tool_calls=[{"index": 0, "id": "x", "function": _SEARCH_CALL}]), finish="tool_calls"
            ),
            '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}',
        )
        for preset in ("generic", "hosted", "small")
    },
    "thinking_with_map": (
        "Hypothesis: China, Anhui.\n" + _call("amap_keyword_search", query="Hefei"),
        '{"lat": 31.8186, "lon": 117.2346, "city": "Hefei", "country": "China"}',
    ),
    "geovista": (
        "<think>Closer.</think>\n" + _call("image_zoom_in_tool", bbox_2d=[10, 10, 200, 200]),
        "<think>Sure.</think>\n<answer>Otaru, Hokkaido, Japan</answer>",
    ),
    "reverse": (
        "<think>Closer.</think>\n" + _call("image_zoom_in_tool", bbox_2d=[100, 100, 500, 500]),
        "<think>Enough.</think>\n<answer>Japan, Otaru, 43.19, 140.99</answer>",
    ),
    "spotagent": (
        "<think>Where is it?</think>\n" + _call("maps_geocode", address="Otaru, Japan"),
        "<think>Sure.</think>\n<answer>\nCountry: Japan\nCity: Otaru\nLatitude: 43.19\nLongitude: 140.99\n</answer>",
    ),
    "geoagent": (
        json.dumps(
            {
                "ChainOfThought": {
                    level: {**_LEVEL_FIELDS, "Conclusion": place} for level, place in _PLACE_BY_LEVEL.items()
                },
                "FinalAnswer": "Japan; Hokkaido; Otaru",
            }
        ),
    ),
    "geo_adapt": (
        "<think><depth>deep</depth> Kanji.</think>\n<answer>\nCountry: Japan\nCity: Otaru\n"
        "Estimated Coordinates: 43.19, 140.99\n</answer>",
    ),
}


def verifies(body: dict[str, Any]) -> bool:
    """Whether a request is the published verifier's: whole trajectories, with their calls, in its first message."""
    spoken = any(message["role"] == "assistant" for message in body["messages"])
    return not spoken and "Hefei" in json.dumps(body["messages"])


def play_of(profile: str) -> Callable[[dict[str, Any], int], list[Any]]:
    """The turn that the conversation has come to."""

    def play(body: dict[str, Any], number: int) -> list[Any]:
        turns_done = sum(message["role"] == "assistant" for message in body["messages"])
        turn = TURNS[profile][-1 if verifies(body) else turns_done]
        return text_chunks(turn) if isinstance(turn, str) else turn

    return play
