"""Checks the caller's hint against the text of the photo and the results of lookups.

Where lettering was read, the belief from it decides, weighed without the hint. Else a firm verdict does. A rollout has
heard the hint, so that one which rests on nothing outside itself confirms nothing: where it repeats the hint and the
lettering speaks against it, the lettering is told first. Only an answer in the place that is hinted agrees; an answer
somewhere else in the country is reported as such, with the distance.
"""

from __future__ import annotations

from tts.clues.hints import Hint
from tts.decision_weights import weights
from tts.domain.answer import Contradiction, HintOutcome, Verdict
from tts.domain.geo import distance_km
from tts.domain.hypothesis import Level
from tts.geodata.extent import town_km
from tts.geodata.gazetteer import Place
from tts.verify.evidence.contradiction_texts import place_words, what_the_photo_says
from tts.verify.evidence.denial_check import denied_outcome
from tts.verify.evidence.hint_outcome import hint_outcome
from tts.verify.evidence.ledger import Finding, LedgerEntry
from tts.verify.evidence.reading_belief import ReadBelief
from tts.verify.evidence.shown_evidence import evidence_of
from tts.verify.evidence.world import World

_MAX_QUOTE_CHARS = 300  # of a hint that the evidence repeats
_W = weights("checks")
_MAX_NEAR_TOWN_KM = _W["near_town_km"]
_MIN_ANSWER_LEVELS = {"country": Level.COUNTRY, "admin1": Level.REGION}  # that an answer has to have to lie in a place


def check_hint(
    hint: Hint | None, verdict: Verdict, read: ReadBelief | None, *, firm: bool, world: World
) -> HintOutcome:
    """`firm`: the verdict's point rests on what tools returned or on what was read."""
    if hint is None:
        return HintOutcome(outcome="unchecked", text="Your hint was not checked: it names no place that GeoTTS knows.")
    outcome = _outcome_of_places(hint, verdict, read, firm=firm, world=world)
    if not hint.denied:
        return outcome
    there = verdict.point is not None and any(_place_contains(place, verdict) for place in hint.places)
    ignored = there and outcome.outcome == "unchecked" and _compare_with_text(hint, read, world)[0]
    return denied_outcome(hint, outcome, verdict, _photo_text(verdict, read), ignored=ignored)


def with_hint(verdict: Verdict, outcome: HintOutcome, hint: str) -> Verdict:
    """The verdict with what became of the hint: a contradiction first, all else after the reasons. The hint stands in
    the evidence as the caller's claim, for or against; evidence that nobody could check is marked so. An abstention
    has nothing that a claim could be for, so there it only stands against."""
    contradicted = outcome.outcome == "contradicted"
    checked = outcome.outcome != "unchecked"
    hint_entry = LedgerEntry(
        about="hint",
        claim=f"the caller says {outcome.place}",
        finding=Finding.SUPPORTED if checked else Finding.UNSUPPORTED,
        quote=" ".join(hint.split())[:_MAX_QUOTE_CHARS],
        against=outcome.outcome not in ("agrees", "near", "unchecked"),
    )
    claim = evidence_of(hint_entry, f"e{len(verdict.evidence) + 1}")
    changed: dict[str, object] = {"hint": outcome}
    if outcome.place and (contradicted or not verdict.abstained):
        changed["evidence"] = (*verdict.evidence, claim)
    if contradicted:
        changed["contradictions"] = (*verdict.contradictions, Contradiction(about="hint", text=outcome.text))
    first = contradicted and not verdict.contradictions
    parts = (outcome.text, verdict.explanation) if first else (verdict.explanation, outcome.text)
    return verdict.model_copy(update=changed | {"explanation": " ".join(parts)})


def _outcome_of_places(
    hint: Hint, verdict: Verdict, read: ReadBelief | None, *, firm: bool, world: World
) -> HintOutcome:
    """What became of the places of a hint, as if it stated them."""
    against, agrees = _compare_with_text(hint, read, world)
    if verdict.point is None:
        return _outcome_without_point(hint, against=against)
    confirmed = firm or (read is not None and read.names(verdict.point))
    is_supported = confirmed or agrees
    if any(_place_contains(place, verdict) for place in hint.places):
        if is_supported:
            return _agreeing_outcome(hint, verdict, read, agrees=agrees)
        return (
            _repeated_outcome(hint, read)
            if against and read is not None and not hint.denied
            else _unchecked_outcome(hint)
        )
    if (
        is_supported
        and hint.near
        and (km := _distance_to_answer_km(hint, verdict)) <= _MAX_NEAR_TOWN_KM
        and verdict.level.rank >= Level.CITY.rank
    ):
        return hint_outcome(
            "near", hint, f"The answer lies near {hint.label}, as your hint says: {_format_km(km)} away."
        )
    if agrees and not confirmed:
        return _ignored_outcome(hint, verdict)
    if against or (is_supported and not _is_nearly_right(hint, verdict, world)):
        return _elsewhere_outcome(hint, verdict, read)
    return _unchecked_outcome(hint)


def _compare_with_text(hint: Hint, read: ReadBelief | None, world: World) -> tuple[bool, bool]:
    """Whether what was read speaks against the places of a hint, and whether it leads there by itself."""
    if read is None or world.clues is None:
        return False, False
    fit = hint.scope.fit(read.belief, world.clues.weigher.priors)
    return fit.contradicts, fit.agrees


def _outcome_without_point(hint: Hint, *, against: bool) -> HintOutcome:
    if not against:
        return _unchecked_outcome(hint)
    return hint_outcome("contradicted", hint, f"{_hint_text(hint)}, but the text in the photo contradicts it.")


def _agreeing_outcome(hint: Hint, verdict: Verdict, read: ReadBelief | None, *, agrees: bool) -> HintOutcome:
    if hint.asked:
        return hint_outcome("agrees", hint, f"{_hint_text(hint)}; the photo {_photo_text(verdict, read)}.")
    source = "read in the photo" if agrees else "looked up"
    return hint_outcome("agrees", hint, f"What was {source} agrees with your hint: {hint.label}.")


def _repeated_outcome(hint: Hint, read: ReadBelief) -> HintOutcome:
    """The answer is the place of the hint, which no lookup confirmed and which the lettering speaks against."""
    found = read.hypothesis
    if found is None or not place_words(found):
        says = "the text in the photo contradicts it"
    else:
        says = f"the photo {what_the_photo_says(found, read=found.point is not None and read.names(found.point))}"
    text = f"{_hint_text(hint)}, but {says}. The answer repeats the hint; no lookup confirmed it."
    return hint_outcome("contradicted", hint, text)


def _ignored_outcome(hint: Hint, verdict: Verdict) -> HintOutcome:
    """The lettering leads to the place of the hint, and the answer, which nothing confirmed, lies elsewhere."""
    lies = f"lies in {answered}" if (answered := place_words(verdict)) else "is another place"
    text = f"The text in the photo agrees with your hint: {hint.label}. The answer {lies}; no lookup confirmed it."
    return hint_outcome("unchecked", hint, text)


def _unchecked_outcome(hint: Hint) -> HintOutcome:
    text = f"Your hint could not be checked: nothing that was read or found confirms or rules out {hint.label}."
    return hint_outcome("unchecked", hint, text)


def _elsewhere_outcome(hint: Hint, verdict: Verdict, read: ReadBelief | None) -> HintOutcome:
    """The answer is another place: of the country that is hinted, or of another."""
    says = _photo_text(verdict, read)
    if verdict.country_code not in {place.country_code for place in hint.places}:
        return hint_outcome("contradicted", hint, f"{_hint_text(hint)}, but the photo {says}.")
    if verdict.level.rank < Level.CITY.rank:
        return hint_outcome("same_country", hint, f"{_hint_text(hint)}; the photo {says}, but to no town in it.")
    other = "another place of that name" if place_words(verdict) == hint.label else "not the same place"
    far = f"{_format_km(_distance_to_answer_km(hint, verdict))} away"
    return hint_outcome(
        "same_country", hint, f"{_hint_text(hint)}; the photo {says}: the same country, {other}, {far}."
    )


def _photo_text(verdict: Verdict, read: ReadBelief | None) -> str:
    named = read is not None and verdict.point is not None and read.names(verdict.point)
    return what_the_photo_says(verdict, read=named)


def _hint_text(hint: Hint) -> str:
    return f"Your hint {'asks about' if hint.asked else 'says'} {hint.label}"


def _place_contains(place: Place, verdict: Verdict) -> bool:
    """Whether an answer lies in a place: in the country, in the division, or within what a town of its size covers."""
    point = verdict.point
    assert point is not None
    if verdict.level.rank < _MIN_ANSWER_LEVELS.get(place.kind, Level.CITY).rank:
        return False
    if place.kind == "country":
        return verdict.country_code == place.country_code
    if place.kind == "admin1":
        return verdict.country_code == place.country_code and verdict.region == place.name
    return distance_km(place.point, point) <= town_km(place)


def _distance_to_answer_km(hint: Hint, verdict: Verdict) -> float:
    assert verdict.point is not None
    return min(distance_km(place.point, verdict.point) for place in hint.places)


def _format_km(km: float) -> str:
    return f"{km:,.0f} km"


def _is_nearly_right(hint: Hint, verdict: Verdict, world: World) -> bool:
    """The verdict is no finer than its 90 % circle, and that reaches the place of the hint: nothing is contradicted."""
    point, radius = verdict.point, verdict.radius_km
    assert point is not None
    assert radius is not None
    if verdict.level.rank >= Level.CITY.rank:
        return False
    if hint.scope.codes:
        return any(
            world.lies_in(point, code, tolerance_km=min(_W["country_beside_km"], radius.p90))
            for code in hint.scope.codes
        )
    return any(distance_km(disc.centre, point) <= disc.radius_km + radius.p90 for disc in hint.scope.discs)
