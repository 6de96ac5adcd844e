"""Numbers on signs: telephone numbers, dates, prices, units, coordinates, and the addresses of US letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import phonenumbers
import zipcodes
from phonenumbers import PhoneNumberFormat

from tts.clues.clue import Clue, ClueKind, clues_for_countries, list_countries
from tts.clues.clue_tables import tables
from tts.clues.dates import date_clues, without_dates
from tts.clues.plates import plate_clues
from tts.clues.signals import phone_signals
from tts.decision_weights import weights as weights_of
from tts.domain.geo import LatLon
from tts.geodata.countries import Countries

_LOCAL_PHONE = re.compile(r"(?<![\w+])\(?0?\d[\d ().\-/]{6,18}\d(?!\w)")
_PHONE_WORD = re.compile(
    r"\b(?:tel|tlf|tél|ph|phone|call|fono|cel|mob|whatsapp|fax|тел|тлф|☎|電話|전화|โทร)\b", re.IGNORECASE
)
_DOLLAR = re.compile(r"(?<![\w])\$\s?\d")
_NAIRA = re.compile(r"(?<![\w$])N ?\d{1,3}(?:,\d{3})+(?!\w)")  # recognisers read ₦ as N, and people write it so
_FORM_NATS = weights_of("forms")
_UNITS = (
    (re.compile(r"\b\d+ ?(?:mph|m\.p\.h)\b", re.IGNORECASE), "US GB PR", "speed_in_miles"),
    (re.compile(r"\bspeed\W{0,3}limit\b", re.IGNORECASE), "US CA PH LR", "speed_limit"),
    (re.compile(r"\b\d+ ?(?:miles?|yds?|yards)\b", re.IGNORECASE), "US GB LR MM PR", "distance_in_miles"),
    (re.compile(r"\b\d+ ?(?:sq\.? ?ft|lbs?|gal)\b", re.IGNORECASE), "US CA GB IN", "size_in_feet_or_pounds"),
    (re.compile(r"\b\d+ ?°F\b"), "US", "fahrenheit"),
)
_DEGREES_AND_MINUTES = re.compile(
    r"(\d{1,2})\s?[°º]\s?(?:(\d{1,2}(?:[.,]\d+)?)\s?['′’]\s?)?(?:(\d{1,2}(?:[.,]\d+)?)\s?(?:[\"″”]|'')\s?)?([NS])\W{0,4}"
    r"(\d{1,3})\s?[°º]\s?(?:(\d{1,2}(?:[.,]\d+)?)\s?['′’]\s?)?(?:(\d{1,2}(?:[.,]\d+)?)\s?(?:[\"″”]|'')\s?)?([EWO])"
)
_DECIMAL_DEGREES = re.compile(
    r"(?<![\d.])(-?\d{1,2}\.\d{3,8})\s?°?\s?([NS])?[,;/ ]\s?(-?\d{1,3}\.\d{3,8})\s?°?\s?([EW])?(?![\d.])"
)
_US_ADDRESS = re.compile(r"\b([A-Z]{2})\.?,? (\d{5})(?:-\d{4})?\b")
_W = weights_of("signs")
_PHONE_NATS = _W["phone"]
_NATIONAL_NATS = _W["national_phone"]
_MIN_PHONE_DIGITS = int(_W["phone_digits"])
_MIN_LABELLED_PHONE_DIGITS = int(_W["called_phone_digits"])
_MAX_PHONE_DIGITS = int(_W["most_phone_digits"])
_MAX_PHONE_COUNTRIES = int(_W["phone_countries"])
_NULL_ISLAND_DEG = _W["nowhere_deg"]
_PRICE_NATS = _W["price"]
_MONEY_WORD_NATS = _W["money_word"] * _PRICE_NATS
_COMMON_CURRENCIES = frozenset("€£")  # … that tourists meet too


def number_clues(text: str, countries: Countries) -> Iterator[Clue]:
    """Every clue of this module in one line of text."""
    plates = list(plate_clues(text))
    if plates:
        yield from plates
        return
    found = [
        *_international_numbers(text),
        *_prices(text),
        *_units(text),
        *_coordinates(text),
        *_zip_clues(text),
        *date_clues(text),
    ]
    yield from found
    if not any(clue.kind is ClueKind.PHONE for clue in found):
        yield from _national_numbers(without_dates(text), countries)


def _international_numbers(text: str) -> Iterator[Clue]:
    for signal in phone_signals(text):
        why = f"telephone numbers with this prefix are used in {list_countries(sorted(signal.countries))}"
        yield from clues_for_countries(ClueKind.PHONE, signal.text, why, signal.countries, _PHONE_NATS)


def _national_numbers(text: str, countries: Countries) -> Iterator[Clue]:
    """A number without a country's prefix: the countries where it could be dialled, best where it is set as there."""
    has_phone_word = bool(_PHONE_WORD.search(text))
    least = _MIN_LABELLED_PHONE_DIGITS if has_phone_word else _MIN_PHONE_DIGITS
    for match in list(_LOCAL_PHONE.finditer(text))[:2]:
        digits = re.sub(r"\D", "", match.group())
        fits = least <= len(digits) <= _MAX_PHONE_DIGITS
        if not fits or (not has_phone_word and match.group().isdigit()):
            continue
        weights = _countries_of_number(match.group().strip(), countries.codes)
        if weights and len(weights) < _MAX_PHONE_COUNTRIES:
            codes = sorted(code for code, weight in weights.items() if weight == 0.0)
            why = f"telephone numbers are written like this in {list_countries(codes)}"
            yield Clue(kind=ClueKind.PHONE, quote=match.group(), why=why, weights=weights, other=-_NATIONAL_NATS)


@lru_cache(maxsize=256)
def _countries_of_number(text: str, codes: tuple[str, ...]) -> dict[str, float]:
    """Countries where a number is valid: 0 where it is also grouped as there, −1 otherwise."""
    found: dict[str, float] = {}
    for code in codes:
        try:
            number = phonenumbers.parse(text, code)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number_for_region(number, code):
            national = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
            found[code] = 0.0 if _digit_group_lengths(national) == _digit_group_lengths(text) else -1.0
    return found if 0.0 in found.values() else {code: 0.0 for code in found}


def _digit_group_lengths(text: str) -> tuple[int, ...]:
    return tuple(len(group) for group in re.findall(r"\d+", text))


def _prices(text: str) -> Iterator[Clue]:
    if any(char.isdigit() for char in text):
        for mark, codes in tables().currency_marks.items():
            if mark in text.casefold():
                nats = (_W["common_money"] if mark in _COMMON_CURRENCIES else 1.0) * _PRICE_NATS
                yield from clues_for_countries(ClueKind.CURRENCY, text, f"prices in {mark}", codes, nats)
    for match in _price_words().finditer(text):
        word = (match.group(1) or match.group(2)).lower()
        codes = tables().currency_words[word]
        yield from clues_for_countries(ClueKind.CURRENCY, match.group(), f"prices in {word}", codes, _MONEY_WORD_NATS)
    if naira := _NAIRA.search(text):
        yield from clues_for_countries(ClueKind.CURRENCY, naira.group(), "prices in naira", ["NG"], _MONEY_WORD_NATS)
    if dollar := _DOLLAR.search(text):
        yield from clues_for_countries(
            ClueKind.CURRENCY, dollar.group(), "prices with a dollar sign", tables().dollar, _W["dollar"]
        )


@lru_cache(maxsize=1)
def _price_words() -> re.Pattern[str]:
    """A currency's word before or after an amount."""
    words = tables().currency_words
    before, after = ("|".join(re.escape(word) for word in words if plain(word)) for plain in (bool, str.isalpha))
    return re.compile(rf"(?<![\w$])({before})\.?\s?\d[\d.,]*(?!\w)|(?<!\w)\d[\d.,]*\s?({after})(?!\w)", re.IGNORECASE)


def _units(text: str) -> Iterator[Clue]:
    for form, codes, kind in _UNITS:
        if match := form.search(text):
            why = "units and words that few countries use"
            yield from clues_for_countries(ClueKind.UNIT, match.group(), why, codes.split(), _FORM_NATS[kind])


def _coordinates(text: str) -> Iterator[Clue]:
    """A position printed in the picture, in degrees with minutes and seconds or in decimals."""
    for match in _DEGREES_AND_MINUTES.finditer(text):
        parts = match.groups()
        lat = _angle(parts[0:3]) * (-1.0 if parts[3] == "S" else 1.0)
        lon = _angle(parts[4:7]) * (-1.0 if parts[7] in "WO" else 1.0)
        yield from _position_clues(match.group(), lat, lon, _W["degrees_km"])
    for match in _DECIMAL_DEGREES.finditer(text):
        lat = float(match.group(1)) * (-1.0 if match.group(2) == "S" else 1.0)
        lon = float(match.group(3)) * (-1.0 if match.group(4) == "W" else 1.0)
        yield from _position_clues(match.group(), lat, lon, _W["decimal_km"])


def _position_clues(quote: str, lat: float, lon: float, km: float) -> Iterator[Clue]:
    if abs(lat) <= 90 and abs(lon) <= 180 and (abs(lat) > _NULL_ISLAND_DEG or abs(lon) > _NULL_ISLAND_DEG):
        point = LatLon(lat=lat, lon=lon)
        why = f"the picture states the position {point}"
        yield Clue(kind=ClueKind.COORDINATES, quote=quote, why=why, point=point, point_km=km)


def _angle(parts: tuple[str | None, ...]) -> float:
    degrees, minutes, seconds = (float((part or "0").replace(",", ".")) for part in parts)
    return degrees + minutes / 60.0 + seconds / 3600.0


def _zip_clues(text: str) -> Iterator[Clue]:
    """State and ZIP of a US address; the position of its post office."""
    for match in _US_ADDRESS.finditer(text):
        rows = [row for row in _zip_rows(match.group(2)) if row["state"] == match.group(1) and row["lat"]]
        if rows:
            point = LatLon(lat=float(rows[0]["lat"]), lon=float(rows[0]["long"]))
            why = f"{match.group(2)} is {rows[0]['city']}, {rows[0]['state']}, United States"
            yield Clue(
                kind=ClueKind.POSTCODE, quote=match.group(), why=why, weights={"US": 0.0}, other=_W["zip_elsewhere"],
                point=point, point_km=_W["zip_km"],
            )  # fmt: skip


@lru_cache(maxsize=256)
def _zip_rows(code: str) -> list[dict[str, str]]:
    return [dict(row) for row in zipcodes.matching(code)] if zipcodes.is_real(code) else []  # type: ignore[no-untyped-call]
