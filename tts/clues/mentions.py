"""Names of places in what was read: which places bear them, how often such a name stands on a sign there, and how
often anywhere for any other reason.

A name that is a word, short, famous or half of a longer name is no lead; a rare one that stands alone, after a postcode
or after “City of” is. Nothing here decides: both rates go into the weighing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from phonenumbers import NumberParseException, PhoneNumberType, number_type, parse, region_code_for_number

from tts.geodata.gazetteer import Gazetteer, Match
from tts.geodata.lexicon import Lexicon
from tts.geodata.names import LETTER, normalise, script_of

_OWN = 0.08  # share of photos with text that carry the name of their own town
_ALTERNATE = 0.35
_EDIT, _FOREIGN_EDIT = 0.12, 0.35  # Latin letters are read wrong less often
_WORDS_A_PHOTO = 25.0
_CHANCE = 3e-6
_SHORT = {1: 1.0, 2: 2e-2, 3: 2e-3, 4: 2e-4, 5: 2e-5}
_USUAL_WORD, _NAME_IN_LISTS = 4.0, 0.25  # a rare word of one language's list is often there because it is the place
_LONG, _LONG_FROM, _LONG_UP_TO = 0.45, 6, 11  # each further letter makes it less likely to mean anything else
_LONGEST = 4
_GERMAN = ("DE", "AT", "CH")
_MAX_MENTIONS = 24
_AS_GOOD, _ALTERNATE_SCORE, _LOOKED_UP_FROM = 0.02, 0.93, 3
_KM = re.compile(r"([1-9]\d{0,2}) ?(?:km|км|كم|کلومتر|ק״מ|กม\.?)?", re.IGNORECASE)
_LETTERS, _SIGNS = re.compile(rf"{LETTER}+"), rf"(?:{LETTER}|\d)+"
_WORD = re.compile(rf"{_SIGNS}(?:['’.\-]{_SIGNS})*\.?")
_UNSPACED = {"Hani": (2, 6), "Jpan": (2, 7), "Thai": (3, 16), "Laoo": (3, 14), "Khmr": (3, 14), "Mymr": (3, 16)}
# What stands before or after a name and says that it is the name of this town …
_TOWN_BEFORE = re.compile(
    r"(?:\b(?:(?:city|town|village|municipality|county|port|district) of|welcome to|stadt|gemeinde|ville de|commune de"
    r"|mairie de|comune di|ciudad de|municipio de|bienvenidos? a|ayuntamiento de|prefeitura(?: municipal)? de"
    r"|c[aâ]mara municipal de|gare de|bahnhof|stazione di|miasto|город|airport|hafen|\d{4,6})|\bг\.) ?$",
    re.IGNORECASE,
)
_TOWN_AFTER = re.compile(
    r"^ ?(?:\b(?:city|station|airport|town hall|railway|municipality|council|district|bahnhof|hbf|hauptbahnhof"
    r"|belediyesi|d\d{3}|\d{4,6})\b|市|县|縣|駅|站|區|区|町|村|역|시|군|\d{1,3} ?km\b|, [A-Z]{2}\b)",
    re.IGNORECASE,
)
# … or that it is not: a street, a dish, an inn, a saint.
_STREET_BEFORE = re.compile(
    r"\b(?:rue|avenue|av|avda|boulevard|bd|via|viale|piazza|corso|calle|c/|carrera|rua|travessa|ul|ulica|улица|ул"
    r"|проспект|place|plaza|little|new|hotel|bar|caf[eé]|pizzeria|restaurant|ristorante|trattoria|villa|saint|st|santa"
    r"|made in|product of)\.? ?(?:de |di |du |della |da |do |of )?$",
    re.IGNORECASE,
)
_STREET_AFTER = re.compile(
    r"^ ?(?:street|str|straße|strasse|road|rd|avenue|ave|lane|ln|drive|blvd|gasse|weg|straat|gatan|gata|utca|caddesi"
    r"|cad|sokak|hotel|bar|pizza|kebab|style|coffee|tea|beer|fashion|jeans)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a line. `rate` is the share of photos in its place that carry it so, `base` that of photos anywhere on
    which these letters mean something else. `km` is the distance to it where the line says one, as a signpost does."""

    name: str
    quote: str
    matches: tuple[Match, ...]
    rate: float
    base: float
    km: float | None = None


class MentionReader:
    """Finds mentions. Exact names of up to four words; misspelt ones only where a word is in no language's list."""

    def __init__(self, gazetteer: Gazetteer, lexicon: Lexicon) -> None:
        self._gazetteer, self._lexicon = gazetteer, lexicon

    def mentions(self, texts: Iterable[str]) -> tuple[Mention, ...]:
        """Distinct names, the most telling first."""
        found: dict[str, Mention] = {}
        for text in texts:
            for mention in self._line(text):
                known = found.get(mention.name)
                if known is None or mention.rate / mention.base > known.rate / known.base:
                    found[mention.name] = mention
        ranked = sorted(found.values(), key=lambda m: (-m.rate / m.base, m.name))
        return tuple(ranked[:_MAX_MENTIONS])

    def _line(self, text: str) -> Iterator[Mention]:
        script = script_of(text)
        spans = _unspaced(text, *_UNSPACED[script]) if script in _UNSPACED else _spaced(text)
        taken: list[tuple[int, int]] = []
        for start, end in spans:
            if any(start < b and end > a for a, b in taken):
                continue
            mention = self._named(text, start, end)
            if mention is not None:
                yield mention
                if mention.rate > 10.0 * mention.base:
                    taken.append((start, end))

    def _named(self, text: str, start: int, end: int) -> Mention | None:
        name = normalise(text[start:end])
        if len(name) < 2 or name.replace(" ", "").isdigit() or (len(name) == 2 and name.isascii()):
            return None
        matches, edits = self._bearers(name)
        if not matches:
            return None
        base = self._base(name) * 10.0**edits
        rate = _OWN * _EDIT**edits * _spelling(name, matches[0].primary) * _context(text, start, end)
        return Mention(name, text[:120], tuple(matches), min(0.8, rate), base, _distance(text, start, end))

    def looked_up(self, query: str, matches: Iterable[Match]) -> Mention | None:
        """A name that a search inside a country found, spelt so or nearly so; None where it found nothing near."""
        name, found = normalise(query), list(matches)
        best = max((match.score for match in found), default=0.0)
        kept = tuple(match for match in found if match.score > best - _AS_GOOD)
        if not kept or len(name) < _LOOKED_UP_FROM:
            return None
        primary = any(match.primary for match in kept)
        edits = round((1.0 - best / (1.0 if primary else _ALTERNATE_SCORE)) * (len(name) + 1.0))
        rate = 2.0 * _OWN * (_EDIT if name.isascii() else _FOREIGN_EDIT) ** edits * _spelling(name, primary)
        return Mention(name, query[:120], kept, min(0.8, rate), self._base(name) * 10.0**edits)

    def _bearers(self, name: str) -> tuple[list[Match], int]:
        """Places of this name and how many letters it is away from theirs.

        The German adjective of a town ("Kölner Straße") is its name too; no other country writes it so.
        """
        found, edits = self._gazetteer.search(name, limit=24, fuzzy=False), 0
        adjective = len(name) >= 7 and name.endswith("er") and " " not in name
        if not found and adjective:
            found = self._gazetteer.search(name[:-2], countries=_GERMAN, limit=8, fuzzy=False)
        if not found:
            found, edits = self._misspelt(name, None)
        if not found and adjective:
            found, edits = self._misspelt(name[:-2], _GERMAN)
        return found, edits

    def _misspelt(self, name: str, countries: tuple[str, ...] | None) -> tuple[list[Match], int]:
        """Names one or two letters away from a long run of letters that is no word."""
        letters = name.replace(" ", "")
        if len(letters) < 7 or self._lexicon.zipf(name) > 0 or not _LETTERS.fullmatch(letters):
            return [], 0
        if " " in name and any(self._lexicon.zipf(word) > 3.0 for word in name.split()):
            return [], 0
        found = [m for m in self._gazetteer.search(name, countries=countries, limit=8) if m.score >= 0.85]
        best = max((m.score for m in found), default=0.0)
        edits = 1 if best > 1.0 - 1.5 / (len(name) + 1.0) else 2
        if edits == 2 and len(letters) < 10:
            return [], 0
        return [m for m in found if m.score > best - 0.02], edits

    def _base(self, name: str) -> float:
        """How often these letters stand on a sign without meaning the place."""
        words = name.split()
        rarest = min(words, key=self._lexicon.zipf)
        share = 10.0 ** (self._lexicon.zipf(rarest) - 9.0) if self._lexicon.zipf(rarest) else 0.0
        share *= _WORDS_A_PHOTO * (0.03 ** (len(words) - 1))
        if len(self._lexicon.frequencies(rarest)) == 1 and self._lexicon.zipf(rarest) < _USUAL_WORD:
            share *= _NAME_IN_LISTS
        letters = len(name.replace(" ", ""))
        chance = _SHORT.get(letters, _CHANCE) if name.isascii() else max(_CHANCE, _SHORT.get(letters + 2, 0.0))
        return share + chance * _LONG ** max(0, min(_LONG_UP_TO, letters) - _LONG_FROM)


def _spelling(name: str, primary: bool) -> float:
    """How often a place is called so on its own signs: main names are in Latin letters, others there are their own."""
    return 1.0 if primary or not name.isascii() else _ALTERNATE


def _distance(text: str, start: int, end: int) -> float | None:
    """The kilometres that stand beside a name which has its line to itself otherwise."""
    before, after = text[:start].strip(" -–·,.←→↑"), text[end:].strip(" -–·,.:←→↑")
    for number, other in ((after, before), (before, after)):
        if not other and (told := _KM.fullmatch(number)):
            return float(told.group(1))
    return None


def phone_town(digits: str, gazetteer: Gazetteer) -> Mention | None:
    """The town of a landline's exchange, for an international number; None for mobile numbers and unknown exchanges."""
    try:
        number = parse(digits, None)
    except NumberParseException:
        return None
    if number_type(number) not in (PhoneNumberType.FIXED_LINE, PhoneNumberType.FIXED_LINE_OR_MOBILE):
        return None
    from phonenumbers.geocoder import description_for_number  # noqa: PLC0415  100 MB that most processes never need

    described, region = description_for_number(number, "en"), region_code_for_number(number)
    if not described or not region:
        return None
    for name in described.replace("/", ",").split(","):
        matches = gazetteer.search(name, countries=[region], kinds=["city", "admin1"], limit=4, fuzzy=False)
        if matches:
            return Mention(normalise(name), digits, tuple(matches), 0.3, 1e-5)
    return None


def quieter(mention: Mention, factor: float) -> Mention:
    """The same mention, taken less or more seriously: how rollouts differ."""
    return replace(mention, rate=min(0.8, mention.rate * factor))


def _context(text: str, start: int, end: int) -> float:
    """What stands around a name: it stands alone, in an address, after “City of”, or in the name of a street."""
    before, after = text[:start], text[end:]
    if _TOWN_BEFORE.search(before) or _TOWN_AFTER.search(after):
        return 4.0
    if _STREET_BEFORE.search(before) or _STREET_AFTER.search(after):
        return 0.12
    if not before.strip(" -–·,.") and not after.strip(" -–·,."):
        return 2.0
    return 1.0


def _spaced(text: str) -> list[tuple[int, int]]:
    """Spans of one to four words, long ones first."""
    words = [match.span() for match in _WORD.finditer(text)]
    return [
        (words[at][0], words[at + length - 1][1])
        for length in range(min(_LONGEST, len(words)), 0, -1)
        for at in range(len(words) - length + 1)
    ]


def _unspaced(text: str, shortest: int, longest: int) -> list[tuple[int, int]]:
    """Spans of a line in a script without spaces, long ones first; at most 400."""
    spans = [
        (at, at + length)
        for length in range(min(longest, len(text)), shortest - 1, -1)
        for at in range(len(text) - length + 1)
        if " " not in text[at : at + length]
    ]
    return spans[:400]
