"""What a sign is made of: twelve kinds of signs as lists of lines, a third of them for the held-out split only.

A template returns None where a country lacks what it needs (a postcode, a plate). `clue` names the strongest lead on
the sign: the town itself, a telephone prefix, a web address, a currency, a postcode, a plate, or only the language.
Streets show more than one sign: `beside` is what hangs next to the first.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from tts.eval.scenes import sign_numbers
from tts.eval.scenes.ambiguity import (
    countries_by_phone_number,
    countries_by_postcode,
    countries_by_price_sign,
    countries_by_wording,
    named_so,
)
from tts.eval.scenes.locales import SceneLocale
from tts.eval.scenes.towns import Town, neighbours
from tts.eval.scenes.words import Split, Words

Style = Literal["shop", "board", "road", "paper", "plate", "van"]
Clue = Literal["town", "phone", "domain", "currency", "postcode", "plate", "language"]
CLUES: tuple[Clue, ...] = get_args(Clue)  # strongest first


@dataclass(frozen=True, slots=True)
class Line:
    """`size` is relative to the other lines; `gap` is blank space above, in line heights."""

    text: str
    size: float = 1.0
    gap: float = 0.0


@dataclass(frozen=True, slots=True)
class Panel:
    """`facts` are the countries in which each thing it says could be written (`ambiguity`)."""

    lines: tuple[Line, ...]
    style: Style
    clue: Clue
    facts: tuple[frozenset[str], ...]
    aspect: float = 1.6


@dataclass(frozen=True, slots=True)
class Setting:
    """All a template may use."""

    rng: random.Random
    locale: SceneLocale
    words: Words
    town: Town
    split: Split = "dev"

    @property
    def wording(self) -> frozenset[str]:
        """Countries on whose signs this language is written."""
        return countries_by_wording(self.locale.language)

    @property
    def home(self) -> frozenset[str]:
        """What a web address says."""
        return frozenset({self.locale.country})


def shop_front(s: Setting) -> Panel | None:
    """A shop, sometimes with a brand. Sometimes with street and postcode, and then the clue is the postcode."""
    lines = [Line(s.rng.choice(s.words.shop), 1.6)]
    if s.rng.random() < 0.5:
        lines.append(Line(sign_numbers.brand(s.rng), 0.8))
    if (code := sign_numbers.postcode(s.locale)) is not None and s.rng.random() < 0.3:
        lines.append(Line(f"{s.rng.choice(s.words.street)}, {code}", 0.5, 0.3))
        return Panel(tuple(lines), "shop", "postcode", (s.wording, countries_by_postcode(code)), 3.0)
    return Panel(tuple(lines), "shop", "language", (s.wording,), 3.0)


def shop_with_phone(s: Setting) -> Panel | None:
    """A shop and its telephone number. None where no number can be made for the country."""
    number = sign_numbers.phone(s.locale, s.rng, international=s.rng.random() < 0.6)
    if number is None:
        return None
    lines = (Line(s.rng.choice(s.words.shop), 1.4), Line(number))
    return Panel(lines, "shop", "phone", (s.wording, countries_by_phone_number(number)), 2.4)


def station_board(s: Setting) -> Panel | None:
    """The name of the town, sometimes in Latin letters too, and a word such as a station has."""
    lines = [Line(s.town.name, 1.6)]
    if s.town.latin != s.town.name and s.rng.random() < 0.5:
        lines.append(Line(s.town.latin, 0.7))
    lines.append(Line(s.words.public[0], 0.6, 0.3))
    return Panel(tuple(lines), "board", "town", (s.wording, _places_of_town(s.town)), 3.4)


def town_limit(s: Setting) -> Panel | None:
    """The name of the town alone, sometimes in Latin letters too."""
    lines = [Line(s.town.name, 1.5)]
    if s.town.latin != s.town.name and s.rng.random() < 0.4:
        lines.append(Line(s.town.latin, 0.8))
    return Panel(tuple(lines), "road", "town", (_places_of_town(s.town),), 2.6)


def notice(s: Setting) -> Panel | None:
    """A notice, sometimes with a second one; the language is the only clue."""
    lines = [Line(s.rng.choice(s.words.notice), 1.2)]
    if s.rng.random() < 0.5:
        lines.append(Line(s.rng.choice(s.words.public[1:] or s.words.public), 0.6, 0.4))
    return Panel(tuple(lines), "paper", "language", (s.wording,), 1.5)


def price_list(s: Setting) -> Panel | None:
    """A shop and its goods, each with a price. None where the locale has no form for prices."""
    lines, goods = [Line(s.rng.choice(s.words.shop), 0.9)], list(s.words.goods)
    s.rng.shuffle(goods)
    facts = [s.wording]
    for item in goods:
        if (found := sign_numbers.price(s.locale, s.rng)) is None:
            return None
        lines.append(Line(f"{item}   {found[0]}", 0.9, 0.15))
        facts.append(countries_by_price_sign(found[0], s.locale))
    return Panel(tuple(lines), "board", "currency", tuple(facts), 1.3)


def opening_hours(s: Setting) -> Panel | None:
    """Hours and a web address. None where CLDR has no names of days, or the words have no heading."""
    hours = sign_numbers.hours(s.locale, s.rng)
    if not hours or not s.words.hours:
        return None
    lines = [Line(s.words.hours, 1.1), *(Line(text, 0.9, 0.2) for text in hours)]
    return Panel((*lines, Line(sign_numbers.web_address(s.locale, s.rng), 0.7, 0.4)), "paper", "domain", (s.home,), 1.2)


def number_plate(s: Setting) -> Panel | None:
    """A plate alone. None where the form of the country is not known."""
    text = sign_numbers.plate(s.locale, s.rng)
    if text is None:
        return None
    return Panel((Line(text, 1.6),), "plate", "plate", (sign_numbers.plates_like(s.locale.country),), 4.2)


def direction_sign(s: Setting) -> Panel | None:
    """The town and its two nearest neighbours, each with a distance in km."""
    near = [(s.town, s.rng.choice((1.0, 2.0))), *neighbours(s.town, s.locale, count=2)]
    lines = [Line(f"{town.name}   {max(1, round(km))}", 1.0, 0.2 * bool(i)) for i, (town, km) in enumerate(near)]
    return Panel(tuple(lines), "road", "town", tuple(_places_of_town(town) for town, _ in near), 1.9)


def rent_poster(s: Setting) -> Panel | None:
    """A poster for a flat with a telephone number, sometimes with the rent. None without its words or a number."""
    number = sign_numbers.phone(s.locale, s.rng, international=s.rng.random() < 0.5)
    if not s.words.rent or number is None:
        return None
    lines = [Line(s.words.rent, 1.5), Line(number, 1.0, 0.2)]
    if (rent := sign_numbers.price(s.locale, s.rng, factor=150)) is not None and s.rng.random() < 0.5:
        lines.append(Line(rent[0], 0.8, 0.2))
    return Panel(tuple(lines), "paper", "phone", (s.wording, countries_by_phone_number(number)), 1.4)


def van_lettering(s: Setting) -> Panel | None:
    """A brand, its trade and a web address."""
    lines = (Line(sign_numbers.brand(s.rng), 1.4), Line(s.rng.choice(s.words.shop), 0.9, 0.2))
    return Panel((*lines, Line(sign_numbers.web_address(s.locale, s.rng), 0.7, 0.3)), "van", "domain", (s.home,), 1.8)


def street_name(s: Setting) -> Panel | None:
    """The name of a street. Sometimes with a postcode, and then the clue is the postcode."""
    lines = [Line(s.rng.choice(s.words.street), 1.2)]
    if (code := sign_numbers.postcode(s.locale)) is not None and s.rng.random() < 0.4:
        lines.append(Line(code, 0.6, 0.2))
        return Panel(tuple(lines), "road", "postcode", (s.wording, countries_by_postcode(code)), 3.6)
    return Panel(tuple(lines), "road", "language", (s.wording,), 3.6)


def beside(s: Setting) -> Panel | None:
    """What hangs next to a sign: a notice, a craftsman's number, a web address, a poster that names the town."""
    match s.rng.choice(("notice", "phone", "web", "town")):
        case "notice":
            return Panel((Line(s.rng.choice(s.words.notice)),), "paper", "language", (s.wording,), 4.0)
        case "phone":
            number = sign_numbers.phone(s.locale, s.rng, international=s.rng.random() < 0.5)
            if number is None:
                return None
            return Panel(
                (Line(sign_numbers.brand(s.rng), 0.8), Line(number)),
                "van",
                "phone",
                (countries_by_phone_number(number),),
                3.2,
            )
        case "web":
            return Panel((Line(sign_numbers.web_address(s.locale, s.rng)),), "van", "domain", (s.home,), 6.0)
        case _:
            lines = (Line(s.rng.choice(s.words.public), 0.7), Line(s.town.name, 1.0, 0.1))
            return Panel(lines, "paper", "town", (s.wording, _places_of_town(s.town)), 3.0)


def _places_of_town(town: Town) -> frozenset[str]:
    return named_so(town.name) | {town.country}


Template = Callable[[Setting], Panel | None]

TEMPLATES: dict[Split, tuple[Template, ...]] = {
    "dev": (
        shop_front, shop_with_phone, station_board, town_limit, notice, price_list, opening_hours, number_plate,
    ),
    "held_out": (direction_sign, rent_poster, van_lettering, street_name),
}  # fmt: skip
