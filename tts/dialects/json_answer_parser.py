"""Parses an answer from the text of a model. It is tolerant of form and strict about content: nothing is guessed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from tts.dialects.coordinate_parser import point_from, point_naming_axes
from tts.dialects.lenient_json import begins_object, read_object
from tts.dialects.stated_answer import StatedAnswer
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Claim, Level
from tts.domain.photo import Box
from tts.domain.reading import TextLine

_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "：": ":", "，": ",", "｛": "{", "｝": "}", "＂": '"'})
_LAT_KEYS = ("lat", "latitude")
_LON_KEYS = ("lon", "lng", "long", "longitude")
_POINT_KEYS = ("coordinates", "gps", "gps_coordinates", "location", "point")
_ANSWER_KEYS = ("answer", "best", "best_guess", "final", "final_answer", "result")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input", "action_input")  # never an answer
CALL_KEYS = ("tool", "tool_name", "action")  # the name of a call, whose point is no answer either
_NO_NAME = ("", "none", "null")
_NO_VALUE = ("null", "None")
_MOST_POINTS = 10  # a confidence above it is in percent
_MAX_CHARS = 200_000
_MAX_LINES = 40
_MAX_LINE_CHARS = 200
_DIGIT = re.compile(r"\d")
_BRACE = re.compile(r"[{｛]")
_LAT = re.compile(r"""[{｛,，"'“]\s{0,9}lat(?:itude)?["'“”]?\s{0,9}[:：]""", re.IGNORECASE)
_MARK = re.compile(r'["{}\\\n]')  # the characters that decide where an object begins and ends
_DECODER = json.JSONDecoder(parse_constant=str, strict=False)  # models write line breaks into strings as they are
_MAX_COST = 400_000  # of failed attempts, in characters, so that the time stays linear
_COST_OF_ONE = 400  # making the error counts the lines before it


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Every outermost JSON-like object in a text, in order, repaired where it must be.

    An object that is JSON but for line breaks in its strings is taken as it stands. Only where that fails is the end
    of the object looked for by its braces, and what stands between is read leniently. Linear time.
    """
    return (value for value, _, _ in placed_objects(text[-_MAX_CHARS:]))


def object_at_end(text: str) -> str:
    """The last such object as it is written, if nothing but a fence follows it; else empty."""
    text = text[-_MAX_CHARS:]
    start, end = next(reversed([(start, end) for _, start, end in placed_objects(text)]), (0, 0))
    return "" if text[end:].strip(" \n`") else text[start:end]


def placed_objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """The objects that `json_objects` finds, each with where it begins and ends; the text may have any length."""
    plain, cost, end = text.translate(_QUOTES), 0, 0
    while (start := plain.find("{", end)) >= 0:
        if not begins_object(plain, start):
            end = start + 1
            continue
        value: Any = None
        if cost < _MAX_COST:
            try:
                value, end = _DECODER.raw_decode(text, start)
            except json.JSONDecodeError as error:
                cost += error.pos - start + _COST_OF_ONE
            except (ValueError, RecursionError):  # a number or a nesting that is too long
                cost += 10 * _COST_OF_ONE
        if value is None:
            if not (end := _end_of_object(plain, start)):
                return
            value = read_object(text[start:end])
        if isinstance(value, dict):
            yield value, start, end


def answer_from_json(text: str) -> StatedAnswer | None:
    """The last object in the text that states an answer. None when there is none, when it stands among different ones
    in a list, and when something with a latitude follows that cannot be read: what comes before may be a draft.
    """
    text = text[-_MAX_CHARS:]
    following = len(text)
    found: list[StatedAnswer] = []
    for value, start, end in reversed(list(placed_objects(text))):
        between = text[end:following]
        if found and between.strip() not in (",", "，"):
            break
        if not found and _is_begun_again(between):
            return None
        if (answer := _answer_in(value)) is not None:
            found.insert(0, answer)
        elif not found and _has_wrong_point(value):
            return None
        following = start
    return _only_place(found)


def _has_wrong_point(value: dict[str, Any]) -> bool:
    """Whether numbers are stated for a point, and not those of a call or a template."""
    fields = _lower_keys(value)
    numbers = [str(fields[key]) for key in _LAT_KEYS + _LON_KEYS if key in fields]
    return _has_point(fields) and not _is_call(fields) and any(map(_DIGIT.search, numbers))


def _is_begun_again(text: str) -> bool:
    """Whether an object begins that goes on a list or has a latitude."""
    brace = _BRACE.search(text)
    return brace is not None and (
        text[: brace.start()].strip() in (",", "，") or bool(_LAT.search(text, brace.start()))
    )


def _answer_in(value: dict[str, Any], depth: int = 3) -> StatedAnswer | None:
    """What an object states, or else what the one in it does: models like to wrap an answer into `answer` or
    `location`. Names and the rest may stand outside. Of several that differ, only one that is called the answer counts.
    """
    fields = _lower_keys(value)
    is_final = any(_word(fields.get(key)) in _ANSWER_KEYS for key in ("name", "function", *CALL_KEYS))
    if _is_call(fields) and not is_final:
        return None
    if _has_point(fields):
        return _answer_or_abstention(fields)
    outside = {key: item for key, item in fields.items() if key not in _LAT_KEYS + _LON_KEYS}
    for written in (fields.get(key) for key in _POINT_KEYS):
        if isinstance(written, str) and (point := point_naming_axes(written)) is not None:
            return _answer_or_abstention({**outside, "lat": point.lat, "lon": point.lon})
    if any(key in fields and _word(fields[key]) in (*_NO_NAME, "unknown") for key in _ANSWER_KEYS):
        return None
    no_answer = () if is_final else ARGUMENT_KEYS
    inside = {key: item for key, item in fields.items() if isinstance(item, dict) and key not in no_answer}
    outside = {key: item for key, item in outside.items() if key not in inside}
    found = {
        key: answer
        for key, item in (inside.items() if depth else ())
        if (answer := _answer_in({**outside, **_lower_keys(item)}, depth - 1)) is not None
    }
    called = [answer for key, answer in found.items() if key in _ANSWER_KEYS]
    return _only_place(called or list(found.values()))


def _only_place(answers: list[StatedAnswer]) -> StatedAnswer | None:
    """The last of answers that have one point; None for candidates, among which nothing chooses."""
    return answers[-1] if len({answer.point for answer in answers}) == 1 else None


def _lower_keys(value: dict[str, Any]) -> dict[str, Any]:
    return {str(key).strip().lower(): item for key, item in value.items()}


def _is_call(fields: dict[str, Any]) -> bool:
    return any(_word(fields.get(key)) not in _NO_NAME for key in CALL_KEYS)


def _word(value: Any) -> str:
    """A text as keys are written, empty for nothing; `?` for what is no text."""
    return "" if value is None else value.strip().lower().replace(" ", "_") if isinstance(value, str) else "?"


def _has_point(fields: dict[str, Any]) -> bool:
    return any(key in fields for key in _LAT_KEYS) and any(key in fields for key in _LON_KEYS)


def _answer_or_abstention(fields: dict[str, Any]) -> StatedAnswer | None:
    """An answer object in which null may be written as a word in quotes or as two zeros."""
    written = {
        key: None if key in _LAT_KEYS + _LON_KEYS and item in _NO_VALUE else item for key, item in fields.items()
    }
    answer = stated_answer(written)
    if answer is None or answer.point is None or not _is_nowhere(answer.point, fields):
        return answer
    return answer.model_copy(update={"point": None, "level": _level(fields, None)})


def stated_answer(value: dict[str, Any]) -> StatedAnswer | None:
    """An answer object as it stands. Null coordinates are an abstention; wrong ones are no answer."""
    fields = _lower_keys(value)
    lat_key = next((key for key in _LAT_KEYS if key in fields), None)
    lon_key = next((key for key in _LON_KEYS if key in fields), None)
    if lat_key is None or lon_key is None:
        return None
    point: LatLon | None = None
    if fields[lat_key] is not None or fields[lon_key] is not None:
        point = point_from(fields[lat_key], fields[lon_key])
        if point is None:
            return None
    radius, confidence = _radius_km(fields.get("radius_km")), _share(fields.get("confidence"))
    return StatedAnswer(
        point=point,
        level=_level(fields, point),
        radius_km=radius if radius is not None and radius > 0 else None,
        confidence=confidence,
        country=_text(fields, "country"),
        country_code=_text(fields, "country_code")[:2].upper(),
        region=_text(fields, "region", "state", "admin1"),
        city=_text(fields, "city", "town"),
        place=_text(fields, "place", "address"),
        reasoning=_text(fields, "reasoning", "explanation"),
        claims=_claims(fields.get("evidence")),
        read=_lines(fields.get("read")),
    )


def number(value: Any) -> float | None:
    """A finite number from a number or a numeric string; None for everything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = float(value.strip().replace("−", "-").rstrip("°"))
        except ValueError:
            return None
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None


def _is_nowhere(point: LatLon, fields: dict[str, Any]) -> bool:
    """Two zeros in the place of null, by what is said beside them."""
    if (point.lat, point.lon) != (0.0, 0.0):
        return False
    names = _text(fields, "country", "region", "state", "city", "place", "address")
    return not names or fields.get("level") == Level.NONE or _share(fields.get("confidence")) == 0.0


def _radius_km(value: Any) -> float | None:
    return number(value.strip().removesuffix("km") if isinstance(value, str) else value)


def _share(value: Any) -> float | None:
    """A number from 0 to 1; what is said in percent, divided by 100."""
    in_percent = isinstance(value, str) and value.strip().endswith("%")
    found = number(value.strip().rstrip("% ") if isinstance(value, str) else value)
    if found is None:
        return None
    return min(1.0, max(0.0, found / 100.0 if in_percent or found > _MOST_POINTS else found))


def _text(fields: dict[str, Any], *keys: str) -> str:
    for key in keys:
        if isinstance(value := fields.get(key), str) and value.strip().lower() not in ("", "unknown", "null", "none"):
            return value.strip()[:300]
    return ""


def _level(fields: dict[str, Any], point: LatLon | None) -> Level:
    stated = fields.get("level")
    if isinstance(stated, str) and stated.lower() in set(Level):
        return Level(stated.lower())
    if point is not None:
        return Level.POINT
    for key, level in (("city", Level.CITY), ("region", Level.REGION), ("country", Level.COUNTRY)):
        if _text(fields, key):
            return level
    return Level.NONE


def _claims(value: Any) -> tuple[Claim, ...]:
    value = [value] if isinstance(value, str | dict) else value
    if not isinstance(value, list):
        return ()
    claims = []
    for item in value[:32]:
        if isinstance(item, str) and item.strip():
            claims.append(Claim(text=item.strip()[:500]))
        elif isinstance(item, dict) and isinstance(item.get("claim"), str):
            call = item.get("call")
            quote = item.get("quote")
            claims.append(
                Claim(
                    text=item["claim"][:500],
                    call_id=call[:80] if isinstance(call, str) else None,
                    quote=quote[:300] if isinstance(quote, str) else "",
                )
            )
    return tuple(claims)


def _lines(value: Any) -> tuple[TextLine, ...]:
    """Lines of lettering with their boxes; what lacks either is left out."""
    lines = []
    for item in value[:_MAX_LINES] if isinstance(value, list) else ():
        if not isinstance(item, dict) or not isinstance(item.get("bbox"), list):
            continue
        try:
            x0, y0, x1, y1 = item["bbox"]
            box = Box(x0=x0, y0=y0, x1=x1, y1=y1, photo=item.get("photo", 0))
            line = TextLine(
                text=str(item["text"])[:_MAX_LINE_CHARS],
                box=box,
                confidence=item.get("confidence", 0.5),
                language=str(item.get("language") or "")[:12],
                alternatives=tuple(str(other)[:_MAX_LINE_CHARS] for other in item.get("alternatives", ())[:2]),
            )
        except (KeyError, TypeError, ValueError):
            continue
        lines.append(line)
    return tuple(lines)


def _end_of_object(text: str, start: int) -> int:
    """Behind the brace that closes the one at `start`, braces inside double-quoted strings not counted; 0 for none."""
    depth, in_string, escaped_at = 0, False, -1
    for mark in _MARK.finditer(text, start):
        at, char = mark.start(), mark[0]
        if in_string:
            if at == escaped_at:
                continue
            in_string = char not in ('"', "\n")
            escaped_at = at + 1 if char == "\\" else -1
        elif char == '"':
            in_string = True
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return at + 1
    return 0
