"""Checks a hint that says where the photo was not taken.

Like any hint, it is compared with the answer and with the text of the photo, and it is never evidence. The result is
the opposite of the result of a hint that names this place.
"""

from __future__ import annotations

from tts.clues.hints import Hint
from tts.domain.answer import HintOutcome, Verdict
from tts.domain.hypothesis import Level
from tts.verify.evidence.contradiction_texts import place_words
from tts.verify.evidence.hint_outcome import hint_outcome

_OPPOSITE_OUTCOMES = {"agrees": "contradicted", "near": "unchecked", "same_country": "agrees", "contradicted": "agrees"}
_IGNORED_HINT_TEXT = (
    "Your hint says {}, and the text in the photo agrees. The answer lies there all the same; no lookup confirmed it."
)


def denied_outcome(hint: Hint, named: HintOutcome, verdict: Verdict, says: str, *, ignored: bool) -> HintOutcome:
    """`named`: what became of a hint that names the same places; `says`: what the photo says, in words. `ignored`: the
    answer lies there, although what was read agrees with the denial and no lookup confirmed the answer."""
    outcome = _OPPOSITE_OUTCOMES.get(named.outcome, "unchecked")
    if outcome == "agrees" and verdict.point is not None and not _is_elsewhere(hint, verdict):
        outcome = "unchecked"
    text = _IGNORED_HINT_TEXT.format(hint.words) if ignored else _denial_text(hint, outcome, verdict, says)
    return hint_outcome(outcome, hint, text)


def _denial_text(hint: Hint, outcome: str, verdict: Verdict, says: str) -> str:
    if outcome == "unchecked":
        return f"Your hint could not be checked: nothing that was read or found confirms or rules out {hint.label}."
    if outcome == "contradicted":
        return f"Your hint says {hint.words}, but the photo {says}."
    if verdict.point is None:
        return f"What was read in the photo agrees with your hint: {hint.words}."
    of_countries = all(place.kind == "country" for place in hint.places)
    where = verdict.country if of_countries and verdict.country else place_words(verdict)
    return f"The answer lies in {where}, {hint.words}, as your hint says."


def _is_elsewhere(hint: Hint, verdict: Verdict) -> bool:
    """Whether the answer is fine enough to lie outside the places that are denied: of another country, or a town."""
    if not place_words(verdict):
        return False
    other_country = verdict.country_code not in {place.country_code for place in hint.places}
    return other_country or verdict.level.rank >= Level.CITY.rank
