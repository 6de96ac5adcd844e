"""Finds the truth and the answer in a row, under the spellings that published logs and data sets use.

Nothing is guessed: a row without a truth is refused with the keys it has, because a silently skipped row would change
every percentage.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from tts.dialects.coordinate_parser import Axis, degrees, point_in
from tts.domain.geo import LatLon
from tts.errors import DataError
from tts.eval.rows import Row

PICTURE_COLUMNS = (
    "image", "file", "filename", "file_name", "img", "img_id", "image_id", "image_path", "img_path", "raw_image_path",
    "path", "photo", "images", "preview",
)  # fmt: skip
PICTURE_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".heic", ".tif", ".tiff", ".bmp", ".gif", ".avif")

_LAT_COLUMNS = ("lat", "latitude", "lat_deg", "gps_lat")
_LON_COLUMNS = ("lon", "lng", "long", "longitude", "lon_deg", "gps_lon", "gps_lng")
_TRUTH_PREFIXES = ("gt", "true", "truth", "ground_truth", "target", "label", "actual", "real")
_ANSWER_PREFIXES = ("pred", "predicted", "prediction", "answer", "guess", "estimated", "est", "model")
_TRUTH_COLUMNS = (
    "ground_truth", "truth", "gt", "groundtruth", "label", "labels", "target", "reward_model", "metadata", "location",
    "gps", "coordinates", "coords", "extra_info", "answer_key", "actual",
)  # fmt: skip
_ANSWER_TEXT_COLUMNS = (
    "solution_str", "response", "output", "completion", "generated_text", "model_output", "model_response",
    "raw_response", "prediction", "predictions", "pred",
)  # fmt: skip
# Names that other things go by too: only looked at when no column says that it is a prediction.
_POSSIBLE_ANSWER_COLUMNS = ("answer", "final_answer", "result", "reply", "text", "content", "guess")
_CITY_COLUMNS = ("city", "city_name", "town", "locality", "place")
_STATE_COLUMNS = ("province_or_state", "state", "province", "region", "admin1")
_COUNTRY_COLUMNS = ("country", "country_name", "nation", "country_code", "iso_country")
_NOTHING = frozenset({"", "nan", "none", "null", "n/a", "na", "-", "unknown"})
_MAX_POSITION_CHARS = 100
_COORDINATE_SIGN = re.compile(r"\d[.,]\d|[°º˚NSEW北南东東西]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StatedPlace:
    """A place as a row states it: degrees of whatever datum the file uses, and names as written."""

    point: LatLon | None
    country: str = ""
    city: str = ""


@dataclass(frozen=True, slots=True)
class RowAnswer:
    """What a system answered: the text it wrote, or the place a table already holds.

    `is_empty`: the row states nothing, as rows of abstentions do. Without a place, the others could not be read.
    """

    text: str | None = None
    place: StatedPlace | None = None
    is_empty: bool = False


def truth_of(row: Row, where: str) -> StatedPlace:
    """The true place of a row.

    Raises:
        DataError: when there is none, naming `where` and the keys that are there.
    """
    keys = plain_keys(row)
    if (found := _find_truth(keys)) is not None:
        return found
    if (stated := _stated_truth(keys)) is not None:
        raise DataError(f"{where} has no true position: {_why_unusable(*stated)}")
    raise DataError(
        f"{where} has no true position: expected `ground_truth` with lat and lon, gt_lat and gt_lon, or lat and lon; "
        f"it has {', '.join(map(str, row)) or 'nothing'}"
    )


def has_empty_truth(row: Row) -> bool:
    """Whether the columns of the true position are there and hold nothing in this row."""
    keys = plain_keys(row)
    if _find_truth(keys) is not None:
        return False
    stated = _stated_truth(keys)
    return stated is not None and all(map(_is_empty, stated))


def answer_of(row: Row, where: str) -> RowAnswer:
    """The answer of a row; an empty or null field is an answer that says nothing.

    Raises:
        DataError: when no field can be one, naming `where` and the keys that are there; when the only position of the
            row is its answer, which would be compared with itself.
    """
    keys = plain_keys(row)
    if (found := _nested_answer(keys, _ANSWER_TEXT_COLUMNS)) is not None:
        return found
    for prefix in _ANSWER_PREFIXES:
        if any(name in keys for name in _affixed_names(_LAT_COLUMNS, prefix)):
            return RowAnswer(
                place=_place_with_prefix(keys, prefix) or StatedPlace(None),
                is_empty=all(map(_is_empty, _stated_position(keys, prefix))),
            )
    if (found := _nested_answer(keys, _POSSIBLE_ANSWER_COLUMNS)) is not None:
        if _answer_is_truth(keys):
            raise DataError(
                f"{where} has no position but `answer`: is it the truth or the answer? Name the truth `ground_truth`, "
                "or give the table of the true positions (geotts eval score --truth)"
            )
        return found
    if any(name in keys for name in _LAT_COLUMNS) and _names_its_truth(keys):
        lat, lon = _first_value(keys, _LAT_COLUMNS), _first_value(keys, _LON_COLUMNS)
        return RowAnswer(
            place=StatedPlace(point_from(lat, lon), *_level_names(keys)), is_empty=_is_empty(lat) and _is_empty(lon)
        )
    raise DataError(
        f"{where} has no answer: expected text in `solution_str` or `response`, or pred_lat and pred_lon; "
        f"it has {', '.join(map(str, row)) or 'nothing'}"
    )


def names_of(row: Row) -> dict[str, str]:
    """The true `country`, `state` and `city` of a row, those that it states."""
    keys = plain_keys(row)
    held = [plain_keys(value) for holder in _TRUTH_COLUMNS if isinstance(value := keys.get(holder), Mapping)]
    found: dict[str, str] = {}
    for place in (*held, keys):
        nested = place.get("multi_level_loc_dict") or place.get("address")
        levels = {**(plain_keys(nested) if isinstance(nested, Mapping) else {}), **place}
        for name, spellings in (("country", _COUNTRY_COLUMNS), ("state", _STATE_COLUMNS), ("city", _CITY_COLUMNS)):
            if name not in found and (value := _first_value(levels, spellings)) is not None:
                found[name] = str(value).strip()
    return found


def _find_truth(keys: Mapping[str, Any]) -> StatedPlace | None:
    for holder in _TRUTH_COLUMNS:
        if (place := place_from(keys.get(holder))) is not None and place.point is not None:
            return place
    for prefix in _TRUTH_PREFIXES:
        if (place := _place_with_prefix(keys, prefix)) is not None:
            return place
    place = place_from(keys)
    return place if place is not None and place.point is not None else None


def _nested_answer(keys: Mapping[str, Any], names: tuple[str, ...]) -> RowAnswer | None:
    for name in names:
        if name in keys:
            value = keys[name]
            text = value if isinstance(value, str) else _last_message(value)
            if text is not None:
                return RowAnswer(text=text, is_empty=_is_empty(text))
            return RowAnswer(place=place_from(value) or StatedPlace(None), is_empty=_holds_no_position(value))
    return None


def _answer_is_truth(keys: Mapping[str, Any]) -> bool:
    """Whether the truth of the row would be found in `answer`, where data sets have it, and nowhere else."""
    place = place_from(keys.get("answer"))
    if place is None or place.point is None:
        return False
    return _find_truth({name: value for name, value in keys.items() if name != "answer"}) is None


def _names_its_truth(keys: Mapping[str, Any]) -> bool:
    """Whether the truth stands under a name of its own, so that plain lat and lon can only be the answer."""
    held = (place_from(keys.get(holder)) for holder in _TRUTH_COLUMNS)
    return any(place is not None and place.point is not None for place in held) or any(
        _place_with_prefix(keys, prefix) is not None for prefix in _TRUTH_PREFIXES
    )


def place_from(value: Any) -> StatedPlace | None:
    """A place in an object, a JSON text, a [lat, lon] pair, or a line "lat, lon, country, city"; None for others."""
    if isinstance(value, str):
        return _place_from_text(value)
    if isinstance(value, list | tuple):
        return _place_from_pair(value)
    if not isinstance(value, dict):
        return None
    keys = plain_keys(value)
    if keys.get("type") == "Point" and isinstance(pair := keys.get("coordinates"), list):
        return _place_from_pair(pair[1::-1])  # GeoJSON: longitude first, perhaps a height behind
    point = point_from(_first_value(keys, _LAT_COLUMNS), _first_value(keys, _LON_COLUMNS))
    names = _level_names(keys)
    if point is None:
        for nested in ("ground_truth", "location", "coordinates", "gps", "answer", "metadata", "point"):
            if nested in keys and (below := place_from(keys[nested])) is not None and below.point is not None:
                return StatedPlace(below.point, below.country or names[0], below.city or names[1])
    if point is None and not any(names) and not any(key in keys for key in (*_LAT_COLUMNS, *_LON_COLUMNS)):
        return None
    return StatedPlace(point, *names)


def point_from(lat: Any, lon: Any) -> LatLon | None:
    """A point from numbers, numeric texts, or texts such as 48°51′N or 48,85; None when either is none or out of range.

    A longitude may be up to 540° from 0; it is wrapped.
    """
    y, x = _number(lat, "lat"), _number(lon, "lon")
    if y is None or x is None or abs(y) > 90.0 or abs(x) > 540.0:
        return None
    return LatLon(lat=y, lon=x)


def plain_keys(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row under plain keys: lower case, underscores for blanks."""
    return dict(zip(_plain_keys(tuple(row)), row.values(), strict=True))


@lru_cache(maxsize=4096)
def _plain_keys(keys: tuple[object, ...]) -> tuple[str, ...]:
    """Rows of one file have the same keys: they are made plain once."""
    return tuple(str(key).strip().lower().replace(" ", "_") for key in keys)


def _number(value: Any, axis: Axis) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return _number_in_text(value, axis) if isinstance(value, str) else None
    return number if math.isfinite(number) else None


def _number_in_text(text: str, axis: Axis) -> float | None:
    """A decimal comma, which in a column of its own separates nothing else; or degrees with a hemisphere or minutes."""
    try:
        return float(text.replace(",", ".", 1))
    except ValueError:
        return degrees(text, axis)


def _is_empty(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING)


def _holds_no_position(value: Any) -> bool:
    """Nothing, or an object whose latitude and longitude hold nothing, as that of an abstention does."""
    if not isinstance(value, Mapping):
        return _is_empty(value)
    keys = plain_keys(value)
    return any(name in keys for name in _LAT_COLUMNS) and all(map(_is_empty, _stated_position(keys, "")))


def _stated_truth(keys: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """The values in the columns of the true position, whatever they are; None when there are no such columns."""
    for prefix in (*_TRUTH_PREFIXES, ""):
        if any(name in keys for name in _affixed_names(_LAT_COLUMNS, prefix)):
            return _stated_position(keys, prefix)
    for holder in _TRUTH_COLUMNS:
        held = keys.get(holder)
        if isinstance(held, Mapping) and any(name in (below := plain_keys(held)) for name in _LAT_COLUMNS):
            return _stated_position(below, "")
        if holder in keys and _is_empty(held):
            return None, None
    return None


def _stated_position(keys: Mapping[str, Any], prefix: str) -> tuple[Any, Any]:
    lat = _first_value(keys, tuple(_affixed_names(_LAT_COLUMNS, prefix)))
    return lat, _first_value(keys, tuple(_affixed_names(_LON_COLUMNS, prefix)))


def _why_unusable(lat: Any, lon: Any) -> str:
    if _is_empty(lat) or _is_empty(lon):
        return "its latitude or longitude is empty"
    stated = f"latitude {lat!r}, longitude {lon!r}"
    y, x = _number(lat, "lat"), _number(lon, "lon")
    if y is not None and x is not None and abs(y) > 90.0 >= abs(x):
        return f"{stated}. Latitudes go from -90 to 90: are latitude and longitude exchanged?"
    return f"{stated} is no position in degrees"


def _first_value(keys: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if (value := keys.get(name)) is not None and value != "":  # a loop: this is the hot path of scoring
            return value
    return None


def _level_names(keys: Mapping[str, Any]) -> tuple[str, str]:
    nested = keys.get("multi_level_loc_dict") or keys.get("address")
    levels = {**plain_keys(nested), **keys} if isinstance(nested, Mapping) else keys
    country, city = _first_value(levels, _COUNTRY_COLUMNS), _first_value(levels, _CITY_COLUMNS)
    return str(country or "").strip(), str(city or "").strip()


def _place_with_prefix(keys: Mapping[str, Any], prefix: str) -> StatedPlace | None:
    """`gt_lat`/`gt_lon` or `lat_gt`/`lon_gt`, with names under the same prefix or plain ones."""
    if (point := point_from(*_stated_position(keys, prefix))) is None:
        return None
    plain = _level_names(keys) if prefix in _TRUTH_PREFIXES else ("", "")
    country = _first_value(keys, tuple(_affixed_names(_COUNTRY_COLUMNS, prefix))) or plain[0]
    city = _first_value(keys, tuple(_affixed_names(_CITY_COLUMNS, prefix))) or plain[1]
    return StatedPlace(point, str(country), str(city))


def _affixed_names(names: tuple[str, ...], affix: str) -> Iterator[str]:
    if not affix:
        yield from names
        return
    for name in names:
        yield f"{affix}_{name}"
        yield f"{name}_{affix}"


def _place_from_text(text: str) -> StatedPlace | None:
    stripped = text.strip()
    if stripped.startswith(("{", "[")):
        try:
            return place_from(orjson.loads(stripped))
        except orjson.JSONDecodeError:
            return None
    parts = [part.strip() for part in stripped.split(",")]
    if len(parts) == 4 and all(part.lstrip("+-").isdigit() for part in parts):
        return None  # "48,85, 2,35" is not 48°, 85°
    if len(parts) < 2 or (point := point_from(parts[0], parts[1])) is None:
        whole = point_in(stripped) if _looks_like_position(stripped) else None
        return None if whole is None else StatedPlace(whole)
    return StatedPlace(point, parts[2] if len(parts) > 2 else "", ", ".join(parts[3:]))


def _looks_like_position(text: str) -> bool:
    """Whether both numbers have decimals, degrees or a hemisphere: labels such as "3/4" or "12 34" do not."""
    return len(text) <= _MAX_POSITION_CHARS and "/" not in text and len(_COORDINATE_SIGN.findall(text)) >= 2


def _place_from_pair(value: list[Any] | tuple[Any, ...]) -> StatedPlace | None:
    if len(value) == 2 and (point := point_from(value[0], value[1])) is not None:
        return StatedPlace(point)
    return None


def _last_message(value: Any) -> str | None:
    """The last text of a conversation or of a list of samples."""
    if isinstance(value, list) and value:
        last = value[-1]
        if isinstance(last, str):
            return last
        if isinstance(last, Mapping) and isinstance(last.get("content"), str):
            return str(last["content"])
    return None
