"""Parses an answer from the text of a model. It is tolerant of form and strict about content: nothing is guessed."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from tts.dialects.coordinate_parser import point_from
from tts.dialects.stated_answer import StatedAnswer
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Claim, Level
from tts.domain.photo import Box
from tts.domain.reading import TextLine

_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_COMMENT = re.compile(r'(?<!:)//[^\n"]*$', re.MULTILINE)
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "：": ":", "，": ",", "｛": "{", "｝": "}", "＂": '"'})
_LAT_KEYS = ("lat", "latitude")
_LON_KEYS = ("lon", "lng", "long", "longitude")
_KEY = re.compile(r"""(?:^|[,\n])[^\S\n]*["']?([A-Za-z_]{2,30})["']?\s*:""")
_ARGUMENTS = ("arguments", "parameters")  # of a call, never an answer
_MAX_CHARS = 200_000
_MAX_LINES = 40
_MAX_LINE_CHARS = 200
_MARK = re.compile(r'["{}\\\n]')  # the characters that decide where an object begins and ends
_DECODER = json.JSONDecoder(parse_constant=str, strict=False)  # models write line breaks into strings as they are
_MAX_COST = 400_000  # of failed attempts, in characters, so that the time stays linear
_COST_OF_ONE = 400  # making the error counts the lines before it


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Every outermost JSON-like object in a text, in order; repairs trailing commas, quotes and full-width signs.

    An object that is JSON but for line breaks in its strings is taken as it stands. Only where that fails is the end
    of the object looked for by its braces, and what stands between is repaired. Linear time.
    """
    text = text[-_MAX_CHARS:]
    plain, cost, end = text.translate(_QUOTES), 0, 0
    while (start := plain.find("{", end)) >= 0:
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
            value = _parse_leniently(text[start:end])
        if isinstance(value, dict):
            yield value


def answer_from_json(text: str) -> StatedAnswer | None:
    """The last object in the text that states an answer, outermost ones first; None when there is none."""
    for value in reversed(list(json_objects(text))):
        for inner in _nested_objects(value):
            if (found := stated_answer(inner)) is not None:
                return found
    return None


def _nested_objects(value: dict[str, Any], depth: int = 3) -> Iterator[dict[str, Any]]:
    """An object, then the objects in it: models like to wrap an answer into `answer` or `location`."""
    yield value
    for key, below in value.items() if depth else ():
        if isinstance(below, dict) and key not in _ARGUMENTS:
            yield from _nested_objects(below, depth - 1)


def stated_answer(value: dict[str, Any]) -> StatedAnswer | None:
    """An answer object. Null coordinates are an abstention; wrong ones are no answer."""
    fields = {str(key).strip().lower(): item for key, item in value.items()}
    lat_key = next((key for key in _LAT_KEYS if key in fields), None)
    lon_key = next((key for key in _LON_KEYS if key in fields), None)
    if lat_key is None or lon_key is None:
        return None
    point: LatLon | None = None
    if fields[lat_key] is not None or fields[lon_key] is not None:
        point = point_from(fields[lat_key], fields[lon_key])
        if point is None:
            return None
    radius, confidence = number(fields.get("radius_km")), number(fields.get("confidence"))
    return StatedAnswer(
        point=point,
        level=_level(fields, point),
        radius_km=radius if radius is not None and radius > 0 else None,
        confidence=min(1.0, max(0.0, confidence)) if confidence is not None else None,
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


def _parse_leniently(raw: str) -> Any:
    repaired = _TRAILING_COMMA.sub(r"\1", _COMMENT.sub("", raw.translate(_QUOTES)))
    with suppress(ValueError, RecursionError):
        return _DECODER.decode(repaired)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in a string are the model's, not ours
            return ast.literal_eval(repaired)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return _parse_flat_object(repaired)


def _parse_flat_object(raw: str) -> dict[str, Any] | None:
    """An object without nesting whose keys or texts lack quotes: what stands between two keys is the value."""
    body = raw[1:-1]
    if "{" in body or len(body) > 4000:
        return None
    if not (keys := list(_KEY.finditer(body))):
        return None
    found: dict[str, Any] = {}
    for key, following in zip(keys, [*keys[1:], None], strict=True):
        written = body[key.end() : following.start() if following else len(body)].strip().rstrip(",").strip()
        try:
            found[key[1]] = _DECODER.decode(written)
        except (ValueError, RecursionError):
            found[key[1]] = written.strip("\"'")
    return found
