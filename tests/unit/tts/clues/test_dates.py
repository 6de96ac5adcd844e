"""Dates: which country writes them so, other calendars, and that they are no telephone numbers."""

import re

import pytest
from babel import Locale, UnknownLocaleError
from babel.languages import get_official_languages
from hypothesis import given
from hypothesis import strategies as st

from tts.clues.clue import ClueKind
from tts.clues.clue_tables import tables
from tts.clues.dates import date_clues, without_dates
from tts.clues.numbers import number_clues


def the_date(text):
    (clue,) = date_clues(text)
    return clue


@pytest.mark.parametrize(
    ("text", "likelier", "than"),
    [
        ("Eröffnung 31.12.2025", "DE", "FR"),
        ("31/12/2025", "FR", "DE"),
        ("12/31/2025", "US", "GB"),
        ("25/12/2025", "GB", "US"),
        ("25-12-2025", "NL", "IT"),
        ("31. 12. 2025.", "HR", "AT"),
        ("2025. 12. 31.", "HU", "PL"),
        ("2025/12/31", "JP", "IT"),
        ("31.12.25", "CZ", "US"),
        ("December 31, 2025", "US", "GB"),
        ("31st of December 2025", "GB", "US"),
        ("24/05/2568", "TH", "VN"),
        ("๒๔/๐๕/๒๕๖๘", "TH", "VN"),
        ("۱۴۰۴/۰۷/۲۱", "IR", "IQ"),
        ("2082/04/05", "NP", "IN"),
        ("平成30年", "JP", "CN"),
        ("中華民國114年", "TW", "CN"),
        ("พ.ศ. 2568", "TH", "LA"),
    ],
)
def test_the_form_of_a_date_favours_the_countries_that_write_it_so(text, likelier, than):
    assert the_date(text).weight(likelier) > the_date(text).weight(than)


def test_a_date_of_unclear_order_is_a_clue_by_its_separators_only():
    clue = the_date("05/06/2025")
    assert clue.weight("US") == clue.weight("FR") > clue.weight("DE")


def test_a_date_with_a_year_of_two_digits_is_a_weaker_clue():
    assert the_date("31.12.25").weight("US") > the_date("31.12.2025").weight("US")


@pytest.mark.parametrize(
    "text",
    ["32.12.2025", "12.50.2025", "31.12.1", "1.2.3", "192.168.10.12", "10:30-12:00", "3/4/5/2025", "v2.12.2025b"],
)
def test_text_that_is_no_date_gives_no_date_clue(text):
    assert list(date_clues(text)) == []


@pytest.mark.parametrize(
    "text",
    ["31.12.2025", "12/31/2025", "1939-1945", "1914 – 1918", "2024/2025", "09.00 - 17.00", "10.00-18.00 12.00-16.00"],
)
def test_dates_years_and_opening_hours_are_no_telephone_numbers(countries, text):
    kinds = {clue.kind for clue in number_clues(text, countries)}
    assert ClueKind.PHONE not in kinds


def test_a_telephone_number_beside_a_date_is_still_found(countries):
    quotes = {clue.quote for clue in number_clues("31.12.2025 tel 040 123 4567", countries) if clue.kind == "phone"}
    assert quotes == {"040 123 4567"}


@given(st.text(alphabet="0123456789./- :–hto年.٣", max_size=40))
def test_removing_dates_leaves_the_other_characters_in_their_place(text):
    blanked = without_dates(text)
    assert len(blanked) == len(text)
    assert all(now in (was, " ") for was, now in zip(text, blanked, strict=True))


def test_the_date_forms_of_each_country_include_those_of_cldr(countries):
    listed = tables().date_forms
    assert set(listed) <= set(countries.codes)
    missing = {
        (code, form)
        for code in countries.codes
        for form in _cldr_forms(code)
        if form not in listed.get(code, ("DMY /",))
    }
    assert missing == set()


def _cldr_forms(code):
    for language in get_official_languages(code, de_facto=True):
        try:
            locale = Locale.parse(f"{language}_{code}")
        except (UnknownLocaleError, ValueError):
            continue
        if locale.territory == code:
            pattern = re.sub(r"'[^']*'|[^dMy./\-]", "", locale.date_formats["short"].pattern)
            order = "".join(dict.fromkeys(char for char in pattern if char in "dMy")).upper()
            marks = re.sub("[A-Za-z]", "", pattern)
            yield f"{order} {marks[0]}{'.' if len(marks) > 2 else ''}"
