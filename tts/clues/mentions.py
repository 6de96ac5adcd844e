"""Names of places in the lines: which places have the name, how often such a name is on a sign there, and how often it
is on a sign elsewhere, for another reason.

A name that is a common word, short, famous, or a part of a longer name is a weak clue. A rare name that is alone, or
after a postcode or “City of”, is a strong one. This module makes no decision: both rates are used as weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from phonenumbers import NumberParseException, PhoneNumberType, number_type, parse, region_code_for_number
from rapidfuzz.distance import OSA

from tts.clues.misleading_words import names_a_street, sells_food_or_names_a_shop
from tts.clues.name_frequencies import NameFrequencies
from tts.clues.rule import RULES, Rule
from tts.clues.words_around_names import TOWN_NAMED, about_flying, kilometres_beside, of_an_owner, weight_beside
from tts.decision_weights import weights
from tts.domain.geo import distance_km
from tts.geodata.gazetteer import Gazetteer, Match
from tts.geodata.lexicon import Lexicon
from tts.geodata.names import LETTER, normalise, place_key, script_of

_W = weights("mentions")
_OWN_TOWN_RATE = _W["own"]
_ALTERNATE_NAME_SHARE = _W["alternate"]
_EDIT_SHARE = _W["edit"]
_FOREIGN_EDIT_SHARE = _W["foreign_edit"]
_EDIT_CHANCE = _W["edit_chance"]
_LETTERS_CHANCE = _W["chance"]
_SHORT_NAME_CHANCES = {
    1: _W["chance_of_1"],
    2: _W["chance_of_2"],
    3: _W["chance_of_3"],
    4: _W["chance_of_4"],
    5: _W["chance_of_5"],
}
_CHANCE_PER_FURTHER_LETTER = _W["long"]
_LONG_NAME_LETTERS = int(_W["long_from"])
_MAX_COUNTED_LETTERS = int(_W["long_up_to"])
_MAX_NAME_WORDS = int(_W["most_words"])
_WORD_SHARE_BESIDE_DISTANCE = _W["no_word_there"]
_FOREIGN_LANGUAGE_SHARE = _W["foreign"]
_OWNER_NAME_RATE = _W["owners"]
_FOOD_NAME_RATE = weights("misleading")["food_name"]
_MAX_RATE = _W["most"]
_GERMAN_SPEAKING_COUNTRIES = ("DE", "AT", "CH")
_MAX_MENTIONS = int(_W["most_mentions"])
_NAME_CACHE_SIZE = 1024
_MIN_EXCLUSIVE_RATIO = _W["taken"]
_SCORE_TOLERANCE = _W["as_good"]
_MIN_LOOKED_UP_LETTERS = int(_W["looked_up_letters"])
_MIN_ADJECTIVE_LETTERS = int(_W["adjective_letters"])
_MIN_MISSPELT_LETTERS = int(_W["misspelt_letters"])
_MIN_TWICE_MISSPELT_LETTERS = int(_W["twice_misspelt_letters"])
_LETTERS = re.compile(rf"{LETTER}+")
_CHARACTERS = rf"(?:{LETTER}|\d)+"
_WORD = re.compile(rf"{_CHARACTERS}(?:['’.\-]{_CHARACTERS})*\.?")
_MIN_HAN_CHARACTERS = int(_W["han_least"])
_MIN_SYLLABIC_CHARACTERS = int(_W["syllables_least"])
_NAME_LENGTHS_UNSPACED = {  # letters of the shortest and the longest names
    "Hani": (_MIN_HAN_CHARACTERS, int(_W["han_most"])),
    "Jpan": (_MIN_HAN_CHARACTERS, int(_W["kana_most"])),
    **dict.fromkeys(("Thai", "Mymr"), (_MIN_SYLLABIC_CHARACTERS, int(_W["thai_burmese_most"]))),
    **dict.fromkeys(("Laoo", "Khmr"), (_MIN_SYLLABIC_CHARACTERS, int(_W["lao_khmer_most"]))),
}
_MAX_UNSPACED_CHARS = 120  # a longer line is no sign
_MAX_READING_EDITS = int(_W["reading_edits"])
_LETTERS_PER_EDIT = int(_W["reading_letters"])
_AIRPORT_CODE = re.compile(r"(?<!\w)[A-Z]{3}(?!\w)")
_CODE_LETTERS = 3


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a line. `rate` is the share of photos in its place that carry it so, `base` that of photos anywhere on
    which these letters stand by chance, and `words`, by language, that of its signs on which they are ordinary words.
    `km` is the distance to it where the line says one, as a signpost does. `street` says that it is the name of a
    street, `abroad` is the share of photos of other countries that show it as the name of a shop or a dish.
    `called_from_afar` is the share of photos elsewhere in the country with a number of another town's exchange."""

    name: str
    quote: str
    matches: tuple[Match, ...]
    rate: float
    base: float
    km: float | None = None
    words: Mapping[str, float] = field(default_factory=dict)
    street: bool = False
    abroad: float = 0.0
    called_from_afar: float = 0.0

    @property
    def likelihood_ratio(self) -> float:
        """How many times more often the name is on signs at its place than elsewhere."""
        return self.rate / self.rate_elsewhere

    @property
    def rate_elsewhere(self) -> float:
        """The share of photos elsewhere with these letters, in the language where they are most usual."""
        return self.base + max(self.words.values(), default=0.0)

    def rate_elsewhere_among(self, languages: Mapping[str, float]) -> float:
        """The same on signs in these languages, by their shares. Words of any other language stand there too, rarely:
        a Turkish word that hangs in Romania is more probably the Romanian town."""
        return self.base + sum(
            max(_FOREIGN_LANGUAGE_SHARE, languages.get(tag, 0.0)) * share for tag, share in self.words.items()
        )


class MentionReader:
    """Finds mentions. Exact names of up to four words; misspelt ones only where a word is in no language's list.
    `rules` are those that it keeps."""

    def __init__(
        self, gazetteer: Gazetteer, lexicon: Lexicon, names: NameFrequencies, rules: frozenset[Rule] = RULES
    ) -> None:
        self._gazetteer = gazetteer
        self._lexicon = lexicon
        self._names = names
        self._rules = rules
        # every rollout and the verifier interpret the same lines of a photo
        self._places_with_name = lru_cache(_NAME_CACHE_SIZE)(self._find_places_with_name)

    def mentions(self, texts: Iterable[str], beside: Mapping[str, Iterable[str]] | None = None) -> tuple[Mention, ...]:
        """Distinct names, the most telling first; `beside` has the lines above and below each text, where known."""
        found: dict[str, Mention] = {}
        texts = list(texts)
        flying = any(about_flying(text) for text in texts)
        for text in texts:
            for mention in (
                *self._line_mentions(text, (beside or {}).get(text, ())),
                *(self._airport_mentions(text) if flying else ()),
            ):
                known = found.get(mention.name)
                if known is None or mention.likelihood_ratio > known.likelihood_ratio:
                    found[mention.name] = mention
        ranked = sorted(found.values(), key=lambda m: (-m.likelihood_ratio, m.name))
        return tuple(ranked[:_MAX_MENTIONS])

    def _line_mentions(self, text: str, lines: Iterable[str]) -> Iterator[Mention]:
        script = script_of(text)
        spans = (
            _character_spans(text, *_NAME_LENGTHS_UNSPACED[script])
            if script in _NAME_LENGTHS_UNSPACED
            else _word_spans(text)
        )
        taken: list[tuple[int, int]] = []
        for start, end in spans:
            if any(start < b and end > a for a, b in taken):
                continue
            mention = self._mention_of_name(text, start, end, lines)
            if mention is not None:
                yield mention
                if mention.likelihood_ratio > _MIN_EXCLUSIVE_RATIO:
                    taken.append((start, end))

    def _airport_mentions(self, text: str) -> Iterator[Mention]:
        """IATA codes; without anything about flying beside them they are too short to be one."""
        for code in dict.fromkeys(_AIRPORT_CODE.findall(text)):
            found = self._gazetteer.search(code, kinds=("airport", "city"), limit=8, fuzzy=False)
            airport = next((match.place for match in found if match.place.kind == "airport"), None)
            if airport is not None:
                served = [m for m in found if distance_km(m.place.point, airport.point) <= _W["served_km"]]
                yield Mention(normalise(code), text[:120], tuple(served), TOWN_NAMED * _OWN_TOWN_RATE, _W["code_base"])

    def _mention_of_name(self, text: str, start: int, end: int, lines: Iterable[str]) -> Mention | None:
        name = normalise(text[start:end])
        if len(name) < 2 or name.replace(" ", "").isdigit() or (len(name) == 2 and name.isascii()):
            return None
        matches, edits = self._places_with_name(name)
        if not matches:
            return None
        weight = weight_beside(text, start, end, lines, self._rules)
        owner = _OWNER_NAME_RATE if of_an_owner(text, start, end) else 0.0
        street = weight < TOWN_NAMED and Rule.STREET in self._rules and names_a_street(text, start, end)
        sold = weight < TOWN_NAMED and Rule.FOOD_NAME in self._rules
        sold = sold and sells_food_or_names_a_shop(text, start, end, lines)
        base = (_chance_of_letters(name) + owner) * _EDIT_CHANCE**edits
        rate = _OWN_TOWN_RATE * _EDIT_SHARE**edits * _spelling_share(name, matches[0].primary) * weight
        words = self._word_frequencies(name, matches)
        if weight >= TOWN_NAMED:
            words = {language: _WORD_SHARE_BESIDE_DISTANCE * share for language, share in words.items()}
        km = kilometres_beside(text, start, end)
        return Mention(
            name, text[:120], tuple(matches), min(_MAX_RATE, rate), base, km, words, street, _FOOD_NAME_RATE * sold
        )

    def mention_of_query(self, query: str, matches: Iterable[Match]) -> Mention | None:
        """A name that a search inside a country found, spelt so or nearly so; None where it found nothing near."""
        name, found = normalise(query), list(matches)
        best = max((match.score for match in found), default=0.0)
        kept = tuple(match for match in found if match.score > best - _SCORE_TOLERANCE)
        if not kept or len(name) < _MIN_LOOKED_UP_LETTERS:
            return None
        primary = any(match.primary for match in kept)
        edits = round((1.0 - best / (1.0 if primary else _W["alternate_score"])) * (len(name) + 1.0))
        rate = (
            _W["looked_up"]
            * _OWN_TOWN_RATE
            * (_EDIT_SHARE if name.isascii() else _FOREIGN_EDIT_SHARE) ** edits
            * _spelling_share(name, primary)
        )
        return Mention(
            name,
            query[:120],
            kept,
            min(_MAX_RATE, rate),
            _chance_of_letters(name) * _EDIT_CHANCE**edits,
            words=self._word_frequencies(name, kept),
        )

    def _find_places_with_name(self, name: str) -> tuple[tuple[Match, ...], int]:
        """Places of this name and how many letters it is away from theirs.

        The German adjective of a town ("Kölner Straße") is its name too; no other country writes it so.
        """
        found, edits = self._gazetteer.search(name, limit=24, fuzzy=False), 0
        if len(name) == _CODE_LETTERS:  # codes of airports are words of every language
            found = [match for match in found if match.place.kind != "airport"]
        adjective = len(name) >= _MIN_ADJECTIVE_LETTERS and name.endswith("er") and " " not in name
        if not found and adjective:
            found = self._gazetteer.search(name[:-2], countries=_GERMAN_SPEAKING_COUNTRIES, limit=8, fuzzy=False)
        if not found:
            found, edits = self._find_misspelt_matches(name, None)
        if not found and adjective:
            found, edits = self._find_misspelt_matches(name[:-2], _GERMAN_SPEAKING_COUNTRIES)
        return tuple(found), edits

    def _find_misspelt_matches(self, name: str, countries: tuple[str, ...] | None) -> tuple[list[Match], int]:
        """Names one or two letters away from a long run of letters that is no word."""
        letters = name.replace(" ", "")
        if len(letters) < _MIN_MISSPELT_LETTERS or self._lexicon.zipf(name) > 0 or not _LETTERS.fullmatch(letters):
            return [], 0
        if " " in name and any(self._lexicon.zipf(word) > _W["common_word"] for word in name.split()):
            return [], 0
        found = [m for m in self._gazetteer.search(name, countries=countries, limit=8) if m.score >= _W["near_score"]]
        best = max((m.score for m in found), default=0.0)
        edits = 1 if best > 1.0 - _W["one_edit"] / (len(name) + 1.0) else 2
        if edits == 2 and len(letters) < _MIN_TWICE_MISSPELT_LETTERS:
            return [], 0
        return [m for m in found if m.score > best - _SCORE_TOLERANCE], edits

    def _word_frequencies(self, name: str, matches: Sequence[Match]) -> dict[str, float]:
        """How often signs of a language carry these words without meaning the place."""
        words = name.split()
        rarest = min(words, key=self._lexicon.zipf)
        share = _W["words_a_photo"] * _W["further_word"] ** (len(words) - 1)
        known = self._lexicon.frequencies(rarest)
        shares = self._names.word_shares(rarest, matches)
        return {language: share * shares[language] * 10.0 ** (zipf - 9.0) for language, zipf in known.items()}


def _chance_of_letters(name: str) -> float:
    """How often these letters are on a sign by chance, without being a word of any language."""
    letters = len(name.replace(" ", ""))
    chance = (
        _SHORT_NAME_CHANCES.get(letters, _LETTERS_CHANCE)
        if name.isascii()
        else max(_LETTERS_CHANCE, _SHORT_NAME_CHANCES.get(letters + 2, 0.0))
    )
    return chance * _CHANCE_PER_FURTHER_LETTER ** max(0, min(_MAX_COUNTED_LETTERS, letters) - _LONG_NAME_LETTERS)


def _spelling_share(name: str, primary: bool) -> float:
    """How often a place is called so on its own signs: main names are in Latin letters, others there are their own."""
    return 1.0 if primary or not name.isascii() else _ALTERNATE_NAME_SHARE


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
            return Mention(
                f"{normalise(name)} {region.lower()}",  # another name than that of the town, which may be read as well
                digits,
                tuple(matches),
                _W["exchange"],
                _W["exchange_base"],
                called_from_afar=_W["exchange"] * _W["exchange_afar"],
            )
    return None


def distinct_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    """Mentions without other readings of the same word: a line that was read twice, a letter apart, names its place
    once."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: (-m.likelihood_ratio, m.name)):
        if not any(_are_same_word(mention, other) for other in kept):
            kept.append(mention)
    return kept


def _are_same_word(one: Mention, other: Mention) -> bool:
    far = max(1, min(_MAX_READING_EDITS, len(one.name) // _LETTERS_PER_EDIT))
    alike = OSA.distance(place_key(one.name), place_key(other.name), score_cutoff=far) <= far
    return alike and not {m.place.id for m in one.matches}.isdisjoint(m.place.id for m in other.matches)


def with_weight(mention: Mention, factor: float) -> Mention:
    """The same mention, taken less or more seriously: how rollouts differ."""
    return replace(mention, rate=min(_MAX_RATE, mention.rate * factor))


def _word_spans(text: str) -> list[tuple[int, int]]:
    """Spans of one to four words, long ones first."""
    words = [match.span() for match in _WORD.finditer(text)]
    return [
        (words[at][0], words[at + length - 1][1])
        for length in range(min(_MAX_NAME_WORDS, len(words)), 0, -1)
        for at in range(len(words) - length + 1)
    ]


def _character_spans(text: str, shortest: int, longest: int) -> list[tuple[int, int]]:
    """Spans of a line in a script without spaces between words, long ones first. A span may have spaces in it if it has
    whole parts of the line (“ភូមិ ពង្រ”, village Pongro)."""
    text = text[:_MAX_UNSPACED_CHARS]
    return [
        (at, at + length)
        for length in range(min(longest, len(text)), shortest - 1, -1)
        for at in range(len(text) - length + 1)
        if " " not in text[at : at + length] or _has_whole_parts(text, at, at + length)
    ]


def _has_whole_parts(text: str, start: int, end: int) -> bool:
    """Whether a span begins and ends where the parts do that spaces divide a text into."""
    return f" {text} "[start] == " " == f" {text} "[end + 1] and text[start:end].strip() == text[start:end]
