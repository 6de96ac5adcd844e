"""One clue in a line of text: what it indicates about countries, and the words that indicate it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from tts.domain.geo import LatLon
from tts.domain.value import Value
from tts.geodata.english_names import country_name, join_names


class ClueKind(StrEnum):
    """The kind of a clue. The ablation in `docs/clues.md` switches the kinds off one by one."""

    LANGUAGE = "language"
    SCRIPT = "script"
    PHONE = "phone"
    POSTCODE = "postcode"
    DOMAIN = "domain"
    CURRENCY = "currency"
    COMPANY = "company"
    BRAND = "brand"
    PLATE = "plate"
    UNIT = "unit"
    DATE = "date"
    PLACE = "place"
    COORDINATES = "coordinates"


class Clue(Value):
    """`weights` are log-likelihoods (nats) by ISO country code, `other` that of every country not named.

    Only differences count: a clue that fits every country alike says nothing. `point` is set where the clue names a
    position itself (printed coordinates, the exchange of a telephone number), which is right within `point_km`.
    `regions` tells parts of a country apart: log-likelihoods by the name of a first-order division, "" for all others.
    """

    kind: ClueKind
    quote: str
    why: str
    weights: Mapping[str, float] = {}
    other: float = 0.0
    point: LatLon | None = None
    point_km: float = 0.0
    regions: Mapping[str, Mapping[str, float]] = {}

    def weight(self, code: str) -> float:
        """The log-likelihood (nats) of a country, given by its ISO code."""
        return self.weights.get(code, self.other)

    def with_trust(self, share: float) -> Clue:
        """The same clue, taken as seriously as its reading is sure (`share` in [0, 1])."""
        if share >= 1.0:
            return self
        weights = {code: share * value for code, value in self.weights.items()}
        return self.model_copy(update={"weights": weights, "other": share * self.other})


def clues_for_countries(
    kind: ClueKind, quote: str, why: str, countries: Iterable[str], nats: float
) -> tuple[Clue, ...]:
    """One clue for some countries: it adds `nats` for each of them, and a little more if they are few. Nothing for no
    country."""
    weights = dict.fromkeys(sorted(set(countries)), 0.0)
    return (Clue(kind=kind, quote=quote[:120], why=why, weights=weights, other=-nats),) if weights else ()


def list_countries(codes: Sequence[str]) -> str:
    """The first six of some countries by name, as explanations list them."""
    names = [country_name(code) for code in codes[:6]]
    return ", ".join(names) + " and others" if len(codes) > 6 else join_names(names)
