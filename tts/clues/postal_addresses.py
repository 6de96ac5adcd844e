"""Postal addresses in what was read: a street with a house number, and the postcode and town beside or below it.

A geocoder can locate a whole address. Its single words are only the name of a street, which exists in many towns
(`tts.clues.mentions`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tts.clues.line_trust import stands_below, trust_from_confidence
from tts.decision_weights import weights
from tts.domain.reading import TextLine
from tts.geodata.names import LETTER

ADDRESS = "address"  # kind of a place that is smaller than a town
STREETS_BEFORE = (
    r"rue|avenue|av|avda|boulevard|bd|via|viale|piazza|corso|calle|c/|carrera|rua|travessa|ul|ulica|улица|ул|проспект"
    r"|place|plaza"
)
STREETS_AFTER = (
    r"street|str|straße|strasse|road|rd|avenue|ave|lane|ln|drive|blvd|gasse|weg|straat|gatan|gata|utca|caddesi|cad"
    r"|sokak"
)
_COMPOUNDS = (
    r"(?:straße|strasse|str\.|gasse|weg|platz|allee|straat|laan|plein|gracht|kade|gatan|vägen|gade|vej|gata|veien)"
)
_WORDS = rf"{LETTER}{{2,}}(?:[ '’\-]{LETTER}+){{0,3}}"
_NAME = rf"{LETTER}(?:{LETTER}|[\d.'’ \-]){{1,40}}?"
_NUMBER_SIGN = r"(?:n[°ºo]\.? ?|nr\.? ?|№ ?|д\. ?|no ?[:.] ?)"
_HOUSE_NUMBER = rf"{_NUMBER_SIGN}?[1-9]\d{{0,3}} ?[a-zA-Z]?(?:[-/]\d{{1,4}})?(?![\d.,]\d|\w)"
_NUMBER_BEFORE_STREET = r"(?<![\d.,\w])[1-9]\d{0,3} ?(?:bis|ter|[a-z])?,?"  # a number before the street
_STREET_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{_NUMBER_BEFORE_STREET} (?:{STREETS_BEFORE})\.? {_WORDS}",
        rf"(?<!\w)(?:{STREETS_BEFORE})\.? {_NAME},? ?{_HOUSE_NUMBER}",
        rf"(?<!\w){LETTER}(?:{LETTER}|-){{2,}}{_COMPOUNDS} ?{_HOUSE_NUMBER}",
        rf"(?<!\w){_WORDS} (?:{STREETS_AFTER})\.?,? ?{_HOUSE_NUMBER}",
        rf"{_NUMBER_BEFORE_STREET} {_WORDS} (?:{STREETS_AFTER})(?!\w)",
        r"[\u4e00-\u9fff]{2,3}[都道府県][\u4e00-\u9fff]{1,6}[市区町村郡][\u3005-\u9fff]{1,12}[\d\-－丁目番地号]{1,12}",
        r"[\u4e00-\u9fff]{2,6}市[\u4e00-\u9fff]{1,6}[区區县縣][\u4e00-\u9fff]{1,10}[路街道巷]\d{1,4}[号號]",
        r"[\uac00-\ud7a3]{2,7}[시도] (?:[\uac00-\ud7a3]{1,5}[시군구] ){1,2}[\uac00-\ud7a3\d]{1,10}[로길] ?\d{1,4}",
    )
)
_BRITISH_POSTCODE = r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"
_POSTCODE_BEFORE_TOWN = (
    rf"(?:[A-Z]{{1,2}}-)?\d{{4,6}}(?: [A-Z]{{2}})?|\d{{2}}-\d{{3}}|\d{{3}} \d{{2}}|{_BRITISH_POSTCODE}"
)
_POSTCODE_AFTER_TOWN = rf"[A-Z]{{2}} \d{{5}}|{_BRITISH_POSTCODE}|[1-9]\d{{2}} ?\d{{3}}"
_TOWN = re.compile(
    rf"(?<![\w\-])(?:(?:{_POSTCODE_BEFORE_TOWN}),? {_WORDS}|{_WORDS}(?: ?[,\-–])? (?:{_POSTCODE_AFTER_TOWN})(?!\w))"
)
_FIRST_FORM_WITH_TOWN = 5  # the first of the forms that name their town
_MIN_LINE_TRUST = weights("signs")["address_read"]
_MAX_CHARS = 200  # of a line: a sign has fewer, and the forms take long over a thousand


@dataclass(frozen=True, slots=True)
class Address:
    """`text` is for a geocoder: units comma-separated, largest last. `quote` is the line with the street; `placed`
    tells whether a town is named."""

    text: str
    quote: str
    placed: bool


def addresses(lines: Sequence[TextLine]) -> tuple[Address, ...]:
    """Distinct addresses in order of the lines; lines that were read badly or are longer than a sign are left out."""
    well = [
        line
        for line in lines
        if trust_from_confidence(line.confidence) >= _MIN_LINE_TRUST and len(line.text) <= _MAX_CHARS
    ]
    found = {address.text.casefold(): address for line in reversed(well) if (address := _address_in_line(line, well))}
    return tuple(reversed(found.values()))


def _address_in_line(line: TextLine, lines: Sequence[TextLine]) -> Address | None:
    for number, form in enumerate(_STREET_FORMS):
        if match := form.search(line.text):
            street = match.group().strip(" ,.")
            if number >= _FIRST_FORM_WITH_TOWN:
                return Address(street, line.text, placed=True)
            town = _TOWN.search(line.text, match.end()) or _town_below(line, lines)
            return Address(f"{street}, {town.group()}" if town else street, line.text, placed=town is not None)
    return None


def _town_below(line: TextLine, lines: Sequence[TextLine]) -> re.Match[str] | None:
    below = sorted((other.box.y0, other.text) for other in lines if stands_below(line.box, other.box))
    return next((town for _, text in below if (town := _TOWN.search(text))), None)
