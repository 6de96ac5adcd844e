"""What a caller's hint claims. A hint is a claim; it is never an instruction or evidence.

Only places are taken from it (`hint_names.py`). A text with instructions is treated like any
other hint: only a place that it states has an effect, and this effect is bounded (`NATS`).
"""

from __future__ import annotations

from dataclasses import dataclass

from tts.clues.clue import Clue, ClueKind, clues_for_countries
from tts.clues.clue_reader import ClueReader
from tts.clues.hint_names import stated_in
from tts.clues.mentions import Mention
from tts.clues.scope import Scope
from tts.decision_weights import weights
from tts.domain.geo import Circle
from tts.geodata.english_names import join_names
from tts.geodata.gazetteer import Match, Place
from tts.geodata.names import normalise

_W = weights("caller")
NATS = _W["hint_nats"]  # log-likelihood of a caller's word
_HINT_RATE = _W["hint"]
_HINT_RATE_ELSEWHERE = _W["hint_elsewhere"]
_TOWN_KM = _W["town_reach_km"]
_REACH_KM = {"city": _TOWN_KM, "admin1": _W["division_reach_km"]}


@dataclass(frozen=True, slots=True)
class Hint:
    """The places that a hint states: `label` as the gazetteer writes them, with their country; `scope` where they are.

    `near`: it says near them. `asked`: it asks about them or leaves open which it is. `denied`: it says in none of
    them. The latter two have no `clues` and `mentions`: a question claims nothing, and a denial is held against what
    was read and moves nothing.
    """

    label: str
    scope: Scope
    clues: tuple[Clue, ...]
    mentions: tuple[Mention, ...]
    places: tuple[Place, ...]
    near: bool = False
    asked: bool = False
    denied: bool = False

    @property
    def words(self) -> str:
        """What it says of the places: “Italy”, or “not in Italy”."""
        return f"not in {self.label}" if self.denied else self.label


def hint_of(text: str | None, reader: ClueReader) -> Hint | None:
    """What a hint claims; None when there is none, or when it states no place that is known."""
    stated = stated_in(text, reader) if text else None
    if stated is None:
        return None
    places = tuple(place for name in stated.names for place in name)
    label = join_names(dict.fromkeys(_label(name[0], reader) for name in stated.names), "or")
    codes = frozenset(place.country_code for place in places if place.kind == "country")
    parts = [place for place in places if place.kind != "country"]
    discs = (Circle(centre=place.point, radius_km=_REACH_KM.get(place.kind, _TOWN_KM)) for place in parts)
    scope = Scope(codes=codes) if codes else Scope(discs=tuple(discs))
    if stated.asked or stated.denied:
        return Hint(label, scope, (), (), places, stated.near, stated.asked, stated.denied)
    stating = (place.country_code for place in places)
    clues = clues_for_countries(ClueKind.PLACE, "", "the caller says so", stating, NATS)
    matches = tuple(Match(place, 1.0, place.name, primary=True) for place in parts)
    mentions = (Mention(f"hint {normalise(label)}", "", matches, _HINT_RATE, _HINT_RATE_ELSEWHERE),) if matches else ()
    return Hint(label, scope, clues, mentions, places, stated.near)


def _label(place: Place, reader: ClueReader) -> str:
    country = reader.countries.name(place.country_code)
    return country if place.kind == "country" else f"{place.name} ({country})"
