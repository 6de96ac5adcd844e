"""Decides whether a line of text supports or contradicts the point of a rollout, by the countries that it indicates.

A claim that quotes a line of the photo is true, but it need not support the answer: an Arabic text is a true
observation, and it contradicts China.
"""

from __future__ import annotations

from tts.clues.clue import Clue
from tts.decision_weights import weights
from tts.domain.hypothesis import Hypothesis
from tts.verify.evidence.ledger import Finding, LedgerEntry
from tts.verify.evidence.world import World

_MIN_CONTRADICTION_NATS = weights("checks")["against_nats"]  # below the country that the line fits best


def with_direction(entry: LedgerEntry, best: Hypothesis, world: World) -> LedgerEntry:
    """The entry of a quoted line, marked where the line speaks against the country at the point."""
    if entry.finding is not Finding.SUPPORTED or entry.tool or best.point is None or world.clues is None:
        return entry
    country = world.country_near(best.point)
    if country is None or not entry.quote:
        return entry
    clues = world.clues.leads({entry.quote: 1.0}).clues
    against = any(_missing_nats(clue, country.code) >= _MIN_CONTRADICTION_NATS for clue in clues)
    return entry.model_copy(update={"against": True}) if against else entry


def _missing_nats(clue: Clue, code: str) -> float:
    """How much less a clue fits a country than the one that it fits best, in nats."""
    return max([clue.other, *clue.weights.values()]) - clue.weight(code)
