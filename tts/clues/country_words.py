"""Words that belong to countries: forms of companies, brands, web domains, labelled postcodes, scripts."""

from __future__ import annotations

import gzip
import importlib.resources
import re
from collections.abc import Iterator
from functools import lru_cache

from tts.clues.clue import Clue, ClueKind, clues_for_countries, list_countries
from tts.clues.clue_tables import tables
from tts.clues.signals import countries_by_tld, postcode_fits, signals_in
from tts.decision_weights import weights
from tts.geodata.countries import Countries
from tts.geodata.lexicon import Lexicon
from tts.geodata.names import normalise

_W = weights("signs")
_FORM_NATS = weights("forms")
_BRAND_LETTERS = int(_W["brand_letters"])
_BRAND_COUNTRIES = int(_W["brand_countries"])
_WIDE_BRAND_COUNTRIES = int(_W["wide_brand_countries"])
_NATS = {"domain": _W["domain"], "script": _W["script"], "postcode": _W["postcode"]}
_MAX_ZIPF_BY_BRAND_WORDS = {1: _W["word_for_brand"], 2: _W["words_for_brand"]}
_SOLD_DOMAIN = re.compile(r"(?i)(?:\bwww\.|@)[\w.\-]{1,250}\.(ai|cc|co|fm|gg|io|la|ly|me|sh|so|st|to|tv|ws)\b(?!\.\w)")
_KINDS = {"domain": ClueKind.DOMAIN, "script": ClueKind.SCRIPT, "postcode": ClueKind.POSTCODE}
_UK_POSTCODE = re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{2}\b")
_DISTINCT_POSTCODES = (
    (_UK_POSTCODE, "GB IM JE GG", "postcode_of_letters"),
    (re.compile(r"\b[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z] ?\d[ABCEGHJ-NPRSTV-Z]\d\b"), "CA", "postcode_of_letters"),
    (re.compile(r"\b[1-9]\d{3} ?[A-Z]{2}\b"), "NL", "short_postcode"),
    (re.compile(r"\b\d{2}-\d{3}\b"), "PL", "short_postcode"),
    (re.compile(r"\b\d{4}-\d{3}\b"), "PT", "short_postcode"),
    (re.compile(r"\b\d{5}-\d{3}\b"), "BR", "postcode_of_eight"),
    (re.compile(r"〒 ?\d{3}-?\d{4}"), "JP", "postcode_with_mark"),
    (re.compile(r"\b\d{3} \d{2}\b(?= \w)"), "CZ SK SE GR", "postcode_of_four_countries"),
    (re.compile(r"\b(?:CP|C\.P\.) ?\d{5}\b"), "MX ES", "postcode_with_label"),
    (re.compile(r"\b(?:LT|LV|MD|AZ|AD)-?\d{3,5}\b"), "LT LV MD AZ AD", "postcode_with_country"),
)
_POSTCODE_AT_END = re.compile(r"^[\w .'-]+(?:(?<!\d),|, )([A-Z0-9]{3,5}(?:[ -][A-Z0-9]{2,4})?)$")


def wording_clues(text: str, countries: Countries, lexicon: Lexicon) -> Iterator[Clue]:
    """Every clue of this module in one line of text."""
    yield from _signals(text, countries)
    yield from _sold_domains(text, countries)
    yield from _companies(text)
    yield from _brands(text, lexicon, countries)
    yield from _postcodes(text, countries)


def _signals(text: str, countries: Countries) -> Iterator[Clue]:
    """What the ledger's checks recognise too: domains, labelled postcodes, national scripts."""
    for signal in signals_in([text], countries):
        if (kind := _KINDS.get(signal.kind)) is not None:
            why = f"this {signal.kind} is used in {list_countries(sorted(signal.countries))}"
            yield from clues_for_countries(kind, signal.text, why, signal.countries, _NATS[signal.kind])


def _sold_domains(text: str, countries: Countries) -> Iterator[Clue]:
    """A domain that anybody may buy (.la, .me): on a sign it is still its own country's more often than another's."""
    for match in _SOLD_DOMAIN.finditer(text):
        code = countries_by_tld(countries).get(match.group(1).lower())
        if code is not None:
            why = f"this domain is used in {list_countries([code])}, and sold elsewhere"
            yield from clues_for_countries(ClueKind.DOMAIN, match.group(), why, [code], _W["sold_domain"])


def _companies(text: str) -> Iterator[Clue]:
    found = _company_forms().findall(text.casefold())
    if not found:
        return
    form = max(found, key=len)
    if len(text.split()) > 1 or not form.isascii():
        why = f"companies with “{form}” in their name are registered there"
        nats = _W["weak_company"] if form in tables().weak_companies else _W["company"]
        yield from clues_for_countries(ClueKind.COMPANY, text, why, tables().companies[form], nats)


@lru_cache(maxsize=1)
def _company_forms() -> re.Pattern[str]:
    forms = sorted(tables().companies, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms))})(?!\w)")


def _brands(text: str, lexicon: Lexicon, countries: Countries) -> Iterator[Clue]:
    """Chains that are found in few countries. Names that are also words, or that say what a public service is in every
    country with the language (“Correios”), are left out."""
    words = normalise(text).split()
    taken: set[int] = set()
    for length in (4, 3, 2, 1):
        for at in range(len(words) - length + 1):
            span = range(at, at + length)
            name = " ".join(words[at : at + length])
            codes = brands().get(name)
            if codes is None or taken & set(span) or len(name) < _BRAND_LETTERS or name in tables().town_words:
                continue
            if _are_common_words(words[at : at + length], lexicon, _languages_of(codes, countries)):
                continue
            taken |= set(span)
            why = f"{name.title()} has branches in {list_countries(codes)}"
            nats = _W["brand"] if len(codes) <= _BRAND_COUNTRIES else _W["wide_brand"]
            if len(codes) <= _WIDE_BRAND_COUNTRIES:
                yield from clues_for_countries(ClueKind.BRAND, name, why, codes, nats)


def _are_common_words(words: list[str], lexicon: Lexicon, homes: frozenset[str]) -> bool:
    """Whether anybody may have written these words without meaning the chain.

    A known chain is in the word lists of its home; being a word in another language is what makes it doubtful.
    """
    limit = _MAX_ZIPF_BY_BRAND_WORDS.get(len(words), _W["many_words_for_brand"])
    return all(
        any(
            zipf > limit + (_W["word_at_home"] if language in homes else 0.0)
            for language, zipf in lexicon.frequencies(word).items()
        )
        for word in words
    )


def _postcodes(text: str, countries: Countries) -> Iterator[Clue]:
    for form, codes, kind in _DISTINCT_POSTCODES:
        if match := form.search(text):
            why = f"a postcode as in {list_countries(codes.split())}"
            yield from clues_for_countries(ClueKind.POSTCODE, match.group(), why, codes.split(), _FORM_NATS[kind])
            return
    if match := _POSTCODE_AT_END.match(text):
        code = match.group(1)
        if any(char.isdigit() for char in code):
            fits = [country for country in countries.codes if postcode_fits(code, country)]
            why = "a postcode of this form"
            yield from clues_for_countries(ClueKind.POSTCODE, code, why, fits, _W["lonely_postcode"])


def _languages_of(codes: tuple[str, ...], countries: Countries) -> frozenset[str]:
    found = (countries.get(code) for code in codes)
    return frozenset(tag.split("-")[0] for country in found if country for tag in country.languages[:2])


@lru_cache(maxsize=1)
def brands() -> dict[str, tuple[str, ...]]:
    """Normalised brand names → ISO codes of the countries where they have branches (name-suggestion-index)."""
    packed = importlib.resources.files("tts").joinpath("data/brands.tsv.gz").read_bytes()
    rows = (line.split("\t") for line in gzip.decompress(packed).decode().splitlines())
    return {normalise(name): tuple(codes.split()) for name, codes in rows}
