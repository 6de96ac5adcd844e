"""Holds what the caller said against each photo, where each of several photos has an answer of its own.

The caller's area and the places that the caller ruled out hold for every photo: a photo that says otherwise gets no
answer, and it is told what the photo says. The hint is compared with what each photo says by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from tts.clues.hints import Hint, hint_of
from tts.clues.ruled_out_places import RuledOut
from tts.domain.answer import Contradiction, HintOutcome, PhotoAnswer, Verdict
from tts.domain.geo import LatLon
from tts.domain.request import LocateOptions
from tts.verify.assembly.verdict import abstention
from tts.verify.consensus.area_constraint import BLANK_PLACE, in_caller_area
from tts.verify.evidence.contradiction_texts import area_words
from tts.verify.evidence.hint_check import check_hint, with_hint
from tts.verify.evidence.hint_outcome import hint_outcome
from tts.verify.evidence.several_photos import OnePhoto, has_statement, own_answers_text, photo_says
from tts.verify.evidence.world import World


def photos_verdict(
    answers: Sequence[PhotoAnswer],
    photos: Sequence[OnePhoto],
    why: str,
    options: LocateOptions,
    world: World,
) -> Verdict:
    """An abstention for all photos together, which are not of one place, with an answer for each that the caller
    allows. `answers` say where each photo was taken; `why` begins the sentence about it."""
    allowed, excluded = allowed_answers(answers, photos, options, world)
    text = f"{why}: {', '.join(map(photo_says, answers, photos))}."
    verdict = abstention((), options.target_radius_km, world).model_copy(
        update={
            "explanation": f"{text} {own_answers_text(allowed)}".strip(),
            "contradictions": (Contradiction(about="photos", text=text),),
            "per_photo": allowed,
        }
    )
    return with_excluded(_add_hint_outcome(verdict, answers, photos, options.hint, world), excluded)


def allowed_answers(
    answers: Sequence[PhotoAnswer], photos: Sequence[OnePhoto], options: LocateOptions, world: World
) -> tuple[tuple[PhotoAnswer, ...], tuple[Contradiction, ...]]:
    """The answers, abstentions in the place of those that the caller's area or ruled-out places exclude;
    and a sentence for each of these."""
    allowed: list[PhotoAnswer] = []
    excluded: list[Contradiction] = []
    for answer, photo in zip(answers, photos, strict=True):
        contradiction = _find_contradiction(answer, photo, options, world)
        allowed.append(answer if contradiction is None else _withhold_place(answer, contradiction.text))
        excluded += [] if contradiction is None else [contradiction]
    return tuple(allowed), tuple(excluded)


def with_excluded(verdict: Verdict, excluded: Sequence[Contradiction]) -> Verdict:
    """The verdict that also says which photos contradict the caller, unless it says so already."""
    known = {contradiction.about for contradiction in verdict.contradictions}
    new = tuple(contradiction for contradiction in excluded if contradiction.about not in known)
    text = " ".join(contradiction.text for contradiction in new)
    first = (text, verdict.explanation) if not verdict.contradictions else (verdict.explanation, text)
    return verdict.model_copy(
        update={"explanation": " ".join(filter(None, first)), "contradictions": (*verdict.contradictions, *new)}
    )


def _add_hint_outcome(
    verdict: Verdict, answers: Sequence[PhotoAnswer], photos: Sequence[OnePhoto], hint: str | None, world: World
) -> Verdict:
    """The verdict with what became of the hint."""
    if not hint or world.clues is None:
        return verdict
    claimed = hint_of(hint, world.clues)
    outcome = None if claimed is None else _hint_outcome(claimed, answers, photos, world)
    return with_hint(verdict, outcome or check_hint(claimed, verdict, None, firm=False, world=world), hint)


def _hint_outcome(
    hint: Hint, answers: Sequence[PhotoAnswer], photos: Sequence[OnePhoto], world: World
) -> HintOutcome | None:
    """None where no photo says enough about the places of the hint."""
    assert world.clues is not None
    priors = world.clues.weigher.priors
    read = [(hint.scope.fit(p.read.belief, priors), a, p) for a, p in zip(answers, photos, strict=True) if p.read]
    agreeing = [(answer, photo) for fit, answer, photo in read if fit.agrees]
    if not agreeing and not (read and all(fit.contradicts for fit, _, _ in read)):
        return None
    compared = agreeing or [(answer, photo) for _, answer, photo in read]
    statements = ", ".join(photo_says(*one) for one in compared if has_statement(*one))
    if bool(agreeing) is not hint.denied:
        text = f"What was read agrees with your hint: {hint.words}" + (f"; {statements}." if statements else ".")
        return hint_outcome("agrees", hint, text)
    verb = "asks about" if hint.asked else "says"
    text = f"Your hint {verb} {hint.words}, but {statements or 'the text in the photos contradicts it'}."
    return hint_outcome("contradicted", hint, text)


def _find_contradiction(
    answer: PhotoAnswer, photo: OnePhoto, options: LocateOptions, world: World
) -> Contradiction | None:
    if answer.lat is None or answer.lon is None:
        return None
    point, statement = LatLon(lat=answer.lat, lon=answer.lon), photo_says(answer, photo)
    statement = statement[0].upper() + statement[1:]
    if options.within is not None and not in_caller_area(point, options.within, world.countries):
        return Contradiction(about="within", text=f"{statement}, outside {area_words(options.within, world)}.")
    if RuledOut.from_options(options).place_at(point, world) is not None:
        return Contradiction(about="not_there", text=f"{statement}, which you ruled out.")
    return None


def _withhold_place(answer: PhotoAnswer, why: str) -> PhotoAnswer:
    return answer.model_copy(update={**BLANK_PLACE, "explanation": why})
