"""The belief from the lines of text, limited to the caller's area (`within`), and weighted with the caller's hint.

A hint changes the weights of places that the photo allows. It adds no place to those that were read. If the photo names
a place, the hint adds no point at which nothing was read.
"""

from __future__ import annotations

from tts.clues.belief import Belief
from tts.clues.clue_reader import ClueReader, Leads
from tts.clues.hints import Hint
from tts.clues.ruled_out_places import RuledOut
from tts.clues.scope import scope_of
from tts.decision_weights import weights
from tts.domain.geo import Area, Countries, distance_km

_NAMED_TOWN_KM = weights("belief")["named_km"]


def belief_with_caller(
    leads: Leads, reader: ClueReader, within: Area | None, hint: Hint | None, ruled_out: RuledOut | None = None
) -> Belief:
    """The belief inside the countries of an area. If the lines contradict these countries, the belief covers the whole
    world, so that the caller learns what the photo indicates. The area is judged without the hint. Nothing lies
    in a place that the caller ruled out.
    """
    allowed, excluded = _allowed_countries(leads, reader, within), ruled_out or None
    plain = reader.weigher.weigh(leads.clues, leads.mentions, allowed, excluded=excluded)
    if hint is None:
        return plain
    clues = (*leads.clues, *hint.clues)
    belief_with_hint = reader.weigher.weigh(clues, leads.mentions, allowed, hint.mentions, excluded)
    says, point = plain.best_point()[0], belief_with_hint.best_point()[0]
    moved = distance_km(says, point) > _NAMED_TOWN_KM
    return plain if moved and leads.names(says) and not leads.names(point) else belief_with_hint


def _allowed_countries(leads: Leads, reader: ClueReader, within: Area | None) -> frozenset[str] | None:
    """The countries of the area; None if there is no area, or if the lines contradict it."""
    if not isinstance(within, Countries):
        return None
    plain = reader.weigher.weigh(leads.clues, leads.mentions)
    against = scope_of(within).fit(plain, reader.weigher.priors).contradicts
    return None if against else frozenset(within.codes)
