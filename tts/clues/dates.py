"""Dates on signs: the order of day, month and year, the marks between them, and years of other calendars.

Which country writes which short form is CLDR's (Unicode Technical Standard 35, part 4); the weights are the project's
own. Years, opening hours and dates are easily mistaken for telephone numbers, so this module can blank them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tts.clues.clue import Clue, ClueKind, clues_for_countries, list_countries
from tts.clues.clue_tables import tables
from tts.decision_weights import weights as weights_of

_NUMERIC_DATE = re.compile(r"(?<![\w./:\-])(\d{1,4})([./\-]) ?(\d{1,2})\2 ?(\d{1,4})(?![\w/\-:]|[.,]\d)(\.?)")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_MONTH_FIRST = re.compile(rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? (?:1[5-9]|20)\d\d\b", re.IGNORECASE)
_DAY_FIRST = re.compile(rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH},? (?:1[5-9]|20)\d\d\b", re.IGNORECASE)
_MONTH_FIRST_COUNTRIES = ("US", "PH", "CA", "PR", "LR")
_ERAS = (
    (re.compile(r"(?:令和|平成|昭和) ?(?:\d{1,2}|元) ?年"), "JP", "Japanese eras"),
    (re.compile(r"民[國国] ?\d{1,3} ?年"), "TW", "the years of the Republic of China"),
    (re.compile(r"พ\.? ?ศ\.? ?2[45]\d\d"), "TH", "the Buddhist era"),
)
_CALENDARS = (  # years in the other calendars, the order they are written in, and where
    (range(2440, 2600), "DMY", "TH LA KH", "the Buddhist era", "buddhist_year"),
    (range(1340, 1430), "YMD", "IR AF", "the solar Hijri calendar", "other_year"),
    (range(2060, 2100), "YMD", "NP", "the calendar of Nepal", "other_year"),
)
_YEAR_RANGE = re.compile(r"(?<!\d)((?:1[0-9]|20)\d\d) ?[-–/] ?((?:1[0-9]|20)\d\d)(?!\d)")
_OPENING_HOURS = re.compile(r"(?<!\d)[0-2]?\d[.:h][0-5]\d ?(?:[-–]|to|bis|à|a) ?[0-2]?\d[.:h][0-5]\d(?!\d)")
_FULL_YEARS = range(1500, 2060)
_SHORT_YEARS = range(100)
_W = weights_of("signs")
_MAX_YEAR_RANGE = int(_W["life_years"])
_FORM_NATS = weights_of("forms")
_OTHER_MARKS_NATS = _W["date_marks"]
_OTHER_ORDER_NATS = _W["date_order"]
_YEAR_FIRST_NATS = _W["date_technical"]
_DAY_FIRST_NATS = {"US": _W["day_first_us"], "PH": _W["day_first_ph"], "CA": _W["day_first_ca"]}
_ORDER_NAMES = {"DMY": "day, month, year", "MDY": "month, day, year", "YMD": "year, month, day"}
_SHORT_YEAR_TRUST = _W["short_year"]


@dataclass(frozen=True, slots=True)
class _Date:
    """Possible orders (`DMY`, `MDY`, `YMD`) of a date as it is written, and its marks (`.` `..` `/` `-`)."""

    quote: str
    orders: frozenset[str]
    marks: str
    trust: float


def date_clues(text: str) -> Iterator[Clue]:
    """Clues from the dates of one line. If the order of a date is ambiguous, only its separators count."""
    for match in _NUMERIC_DATE.finditer(text):
        if other := _other_calendar_clues(match):
            yield from other
        elif (date := _parse_date(match)) is not None:
            yield _form_clue(date)
    yield from _dates_in_words(text)
    yield from _years_of_eras(text)


def _dates_in_words(text: str) -> Iterator[Clue]:
    if month_first := _MONTH_FIRST.search(text):
        why = "a date with the month before the day"
        quote, nats = month_first.group(), _W["month_first"]
        yield from clues_for_countries(ClueKind.DATE, quote, why, _MONTH_FIRST_COUNTRIES, nats)
    elif day_first := _DAY_FIRST.search(text):
        why = "a date with the day before the month, unlike in the United States"
        yield Clue(kind=ClueKind.DATE, quote=day_first.group(), why=why, weights=_DAY_FIRST_NATS)


def _years_of_eras(text: str) -> Iterator[Clue]:
    for form, code, era in _ERAS:
        if match := form.search(text):
            why = f"a year of {era}"
            yield from clues_for_countries(ClueKind.DATE, match.group(), why, (code,), _FORM_NATS["era"])


def without_dates(text: str) -> str:
    """The line with spaces for its dates, spans of years and opening hours; everything else stays where it is."""
    spans = [
        match.span() for match in _NUMERIC_DATE.finditer(text) if _other_calendar_clues(match) or _parse_date(match)
    ]
    spans += [match.span() for match in _OPENING_HOURS.finditer(text)]
    spans += [m.span() for m in _YEAR_RANGE.finditer(text) if 0 < int(m[2]) - int(m[1]) <= _MAX_YEAR_RANGE]
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _parse_date(match: re.Match[str]) -> _Date | None:
    """The orders that numbers can be read in as a date; None when they are none."""
    first, middle, last = (int(part) for part in match.group(1, 3, 4))
    long_first, long_last = len(match[1]) == 4, len(match[4]) == 4
    orders = set()
    if long_first and len(match[4]) <= 2 and first in _FULL_YEARS and _are_day_and_month(last, middle):
        orders.add("YMD")
    if len(match[1]) <= 2 and (last in _FULL_YEARS if long_last else len(match[4]) == 2 and last in _SHORT_YEARS):
        orders |= {order for order, day, month in (("DMY", first, middle), ("MDY", middle, first))
                   if _are_day_and_month(day, month)}  # fmt: skip
    marks = ".." if match[2] == "." and match[5] else match[2]
    trust = 1.0 if long_first or long_last else _SHORT_YEAR_TRUST
    return _Date(match.group(), frozenset(orders), marks, trust) if orders else None


def _are_day_and_month(day: int, month: int) -> bool:
    return 1 <= day <= 31 and 1 <= month <= 12


def _form_clue(date: _Date) -> Clue:
    """Countries by whether they write this order with these marks, this order with others, or another order."""
    other_order = _YEAR_FIRST_NATS if date.orders == {"YMD"} else _OTHER_ORDER_NATS
    weights = {}
    for code, forms in tables().date_forms.items():
        written = [form for form in forms if form.split()[0] in date.orders]
        same = any(form.split()[1] == date.marks for form in written)
        weights[code] = 0.0 if same else -_OTHER_MARKS_NATS if written else -other_order
    usual = "DMY" in date.orders
    other = (0.0 if date.marks == "/" else -_OTHER_MARKS_NATS) if usual else -other_order
    shares = tables().photo_shares
    fitting = (code for code, weight in weights.items() if weight == 0.0 and other < 0.0)
    named = sorted(fitting, key=lambda code: (-shares.get(code, 0.0), code))
    where = f"as in {list_countries(named)}" if named else "as in most countries"
    order = " or ".join(sorted(_ORDER_NAMES[order] for order in date.orders))
    why = f"a date written {order}, {where}"
    return Clue(kind=ClueKind.DATE, quote=date.quote, why=why, weights=weights, other=other).with_trust(date.trust)


def _other_calendar_clues(match: re.Match[str]) -> tuple[Clue, ...]:
    first, middle, last = (int(part) for part in match.group(1, 3, 4))
    for years, order, codes, calendar, kind in _CALENDARS:
        year, day = (first, last) if order == "YMD" else (last, first)
        if year in years and _are_day_and_month(day, middle):
            why = f"a year of {calendar}"
            return clues_for_countries(ClueKind.DATE, match.group(), why, codes.split(), _FORM_NATS[kind])
    return ()
