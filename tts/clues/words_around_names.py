"""The words around a name: do they make it the name of this town, of a street or of an owner, and do they state a
distance?"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tts.clues.clue_tables import tables
from tts.clues.misleading_words import names_a_street
from tts.clues.postal_addresses import STREETS_AFTER, STREETS_BEFORE
from tts.clues.rule import RULES, Rule
from tts.decision_weights import weights
from tts.geodata.names import normalise

_W = weights("mentions")
TOWN_NAMED = _W["town_named"]
_OTHER_MEANING_FACTOR = _W["else_named"]
_ALONE_ON_LINE_FACTOR = _W["alone"]
_PARTICLE = re.compile(r" (?:d[aeiou]|del|della|of|von|van)$")
_DISTANCE = re.compile(r"([1-9]\d{0,2}) ?(?:km|км|كم|کلومتر|ק״מ|กม\.?)?", re.IGNORECASE)
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
# Words of airports and boarding passes: beside them three capitals are an airport's IATA code.
_AIRPORT_WORDS = re.compile(
    r"\b(?:airports?|aeropuerto|a[eé]roport|aeroporto|flughafen|luchthaven|lotnisko|letiště|lufthavn|flygplats|lentoasema"
    r"|havaliman[iı]|havaalan[iı]|bandara|repülőtér|aerodrom|аэропорт|аеропорт|αεροδρόμιο|gates?|terminal|departures?"
    r"|arrivals?|boarding|flights?)\b|空港|机场|機場|공항|สนามบิน|ท่าอากาศยาน|مطار|فرودگاه|נמל תעופה|हवाई अड्डा|✈",
    re.IGNORECASE,
)
# … or that it is not: a street, a dish, an inn, a saint …
_STREET_BEFORE = re.compile(
    rf"\b(?:{STREETS_BEFORE}|little|new|hotel|bar|caf[eé]|pizzeria|restaurant|ristorante|trattoria|villa|saint|st|santa"
    r"|made in|product of)\.? ?(?:de |di |du |della |da |do |of )?$",
    re.IGNORECASE,
)
_STREET_AFTER = re.compile(
    rf"^ ?(?:{STREETS_AFTER}|hotel|bar|pizza|kebab|style|coffee|tea|beer|fashion|jeans)\b", re.IGNORECASE
)
# … or an owner: many families are called after a place that they left.
_OWNER_AFTER = re.compile(
    r"^ ?(?:&|(?:and |e |y |et |und )?(?:sons?|bros|s[oö]hne?|fils|hijos|filhos|figli|zonen)\b"
    r"|,? ?\b(?:lda|ltda|gmbh|kg|ohg|sarl|s\.?r\.?l|s\.?l|inc|ltd|bv|kft|d\.?o\.?o|s\.?r\.?o)\b)",
    re.IGNORECASE,
)


def about_flying(text: str) -> bool:
    """Whether a line has a word of airports or boarding passes: then three capitals near it are an airport's code."""
    return _AIRPORT_WORDS.search(text) is not None


def is_town_word(text: str) -> bool:
    """Whether a line says what a public service of a town is: its station, town hall, post office …"""
    return normalise(text) in tables().town_words


def weight_beside(text: str, start: int, end: int, lines: Iterable[str] = (), rules: frozenset[Rule] = RULES) -> float:
    """How often a name that stands so is that of the town, compared with one in the middle of other words. `lines` are
    those above and below it, where stations and town halls say what they are."""
    before, after = text[:start], text[end:]
    if is_town_word(text[start:end]):  # a town hall is called “Rathaus” more often than a town is
        return _OTHER_MEANING_FACTOR
    if _TOWN_BEFORE.search(before) or _TOWN_AFTER.search(after):
        return TOWN_NAMED
    rest = _PARTICLE.sub("", normalise(f"{before} {after}"))
    if rest in tables().town_words or (not rest and any(is_town_word(line) for line in lines)):
        return TOWN_NAMED
    if _STREET_BEFORE.search(before) or _STREET_AFTER.search(after):
        return _OTHER_MEANING_FACTOR
    if Rule.STREET in rules and names_a_street(text, start, end):
        return _OTHER_MEANING_FACTOR
    if not before.strip(" -–·,.") and not after.strip(" -–·,."):
        return _ALONE_ON_LINE_FACTOR
    return 1.0


def of_an_owner(text: str, start: int, end: int) -> bool:
    """Whether a name is probably that of a family or a company."""
    return text[:start].rstrip().endswith("&") or _OWNER_AFTER.search(text[end:]) is not None


def kilometres_beside(text: str, start: int, end: int) -> float | None:
    """The kilometres that stand beside a name which has its line to itself otherwise."""
    before, after = text[:start].strip(" -–·,.←→↑"), text[end:].strip(" -–·,.:←→↑")
    for number, other in ((after, before), (before, after)):
        if not other and (distance := _DISTANCE.fullmatch(number)):
            return float(distance.group(1))
    return None
