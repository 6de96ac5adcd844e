"""Parsers of answers in the text of a model: one for each published system, and one for answers of people.

`paper` is the one the published tables were made with: the *first* brace-balanced object that is JSON and has lat, lon,
city and country. Braces are counted without regard to strings, a missing quote or a trailing comma loses the answer,
and whatever is not found is wrong. `verifier`, `reverse`, `reverse_reward`, `geoagent` and `geovista` are the released
readers (`tts/rewards/released`); `spotagent` and `geo_adapt` read the forms of their papers, since no code could be
had. `serving` is what a user gets: tolerant, and the last word counts. `free_text` also finds a position in sentences,
for systems that were asked for no form. Tolerance lifts published rows, so readers are never mixed in one table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from tts.dialects.json_answer_parser import answer_from_json
from tts.dialects.labelled_answer_parser import answer_tags, labelled_answer
from tts.dialects.prose_coordinates import last_point_in
from tts.dialects.served.geo_adapt import answer_in_block
from tts.dialects.stated_answer import StatedAnswer
from tts.eval.fields import StatedPlace, point_from
from tts.rewards.released import geoagent_answer, reverse_reward, thinking_with_map_reward

ParserName = Literal[
    "paper",
    "serving",
    "free_text",
    "verifier",
    "reverse",
    "reverse_reward",
    "geoagent",
    "geovista",
    "spotagent",
    "geo_adapt",
]
PARSER_NAMES: tuple[ParserName, ...] = get_args(ParserName)
NAME_READERS: frozenset[ParserName] = frozenset({"geoagent", "geovista"})
"""Readers whose answers are names: they have a position only after geocoding."""


def parse_paper(text: str) -> StatedPlace | None:
    """The first strict object with all four keys, or None. Null or impossible coordinates give None as well."""
    return _place_of_reading(thinking_with_map_reward.read_answer(text))


def parse_verifier(text: str) -> StatedPlace | None:
    """As the verifier of Thinking with Map is read: the widest object, else each field by itself."""
    return _place_of_reading(thinking_with_map_reward.read_verdict(text))


def parse_serving(text: str) -> StatedPlace | None:
    """The last well-formed answer; None when there is none or it abstains from a point."""
    return _place_of_answer(answer_from_json(text))


def parse_free_text(text: str) -> StatedPlace | None:
    """As `serving`; a text without such an object states its position in sentences, and no names."""
    if (answer := answer_from_json(text)) is not None:
        return _place_of_answer(answer)
    point = last_point_in(text)
    return None if point is None else StatedPlace(point)


def parse_reverse(text: str) -> StatedPlace | None:
    """REVERSE's tables: the last two parts of the last answer, before them country and city."""
    return _pair(reverse_reward.read_for_tables(text), reverse_reward.names_for_tables(text))


def parse_reverse_reward(text: str) -> StatedPlace | None:
    """REVERSE's reward: a pair of numbers in the first answer, else anywhere."""
    return _pair(reverse_reward.read_for_reward(text), ("", ""))


def parse_geoagent(text: str) -> StatedPlace | None:
    """GeoAgent: the names of the first answer, else of FinalAnswer; the place counts as the city."""
    answer = geoagent_answer.answer_for_geocoding(text)
    names = geoagent_answer.names_in(answer or "")
    return StatedPlace(None, names.country, names.place or names.region) if names.country else None


def parse_geovista(text: str) -> StatedPlace | None:
    """GeoVista: the whole text, in which names are looked for; it states no place by itself."""
    return StatedPlace(None) if text.strip() else None


def parse_spotagent(text: str) -> StatedPlace | None:
    """SpotAgent: the labelled lines of the last answer."""
    return next((_place_of_answer(labelled_answer(block)) for block in reversed(answer_tags(text))), None)


def parse_geo_adapt(text: str) -> StatedPlace | None:
    """Geo-ADAPT: the labelled lines of the last answer that has all of them; Unknown is no position."""
    found = (answer_in_block(block) for block in reversed(answer_tags(text) or [text]))
    return next((_place_of_answer(answer) for answer in found if answer is not None), None)


PARSERS: dict[ParserName, Callable[[str], StatedPlace | None]] = {
    "paper": parse_paper,
    "serving": parse_serving,
    "free_text": parse_free_text,
    "verifier": parse_verifier,
    "reverse": parse_reverse,
    "reverse_reward": parse_reverse_reward,
    "geoagent": parse_geoagent,
    "geovista": parse_geovista,
    "spotagent": parse_spotagent,
    "geo_adapt": parse_geo_adapt,
}


def _place_of_reading(reading: thinking_with_map_reward.Reading) -> StatedPlace | None:
    return _pair(reading.position, (_name(reading.country), _name(reading.city)))


def _pair(position: tuple[float, float] | None, names: tuple[str, str]) -> StatedPlace | None:
    point = None if position is None else point_from(*position)
    return None if point is None else StatedPlace(point, *names)


def _place_of_answer(found: StatedAnswer | None) -> StatedPlace | None:
    if found is None or found.point is None:
        return None
    return StatedPlace(found.point, found.country or found.country_code, found.city)


def _name(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
