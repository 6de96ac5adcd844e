"""Detects photos that are sent as one place but show different places: it compares the belief of each photo.

Two photos are of different places when their lettering fits no country together, or when both name towns far apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from tts.clues.belief import Belief
from tts.clues.priors import Priors
from tts.domain.answer import Contradiction, PhotoAnswer, Verdict
from tts.domain.geo import LatLon, distance_km
from tts.domain.reading import Reading
from tts.domain.trajectory import Trajectory
from tts.verify.evidence.ledger import POOLED, RolloutLedger
from tts.verify.evidence.ledger_builder import build_ledger
from tts.verify.evidence.reading_belief import ReadBelief, about_photo, read_belief
from tts.verify.evidence.wording import what_the_photo_says
from tts.verify.evidence.world import World

# The joint belief against that of two photos of any two places: a French and a German sign leave about 0.08, a Chinese
# and an Arabic one 0.001 (drawn signs and the ten samples).
_TOGETHER = 0.02
_NEIGHBOURS_KM = 100.0  # towns on two sides of a border are one place to a traveller
_SURE, _TOWN_KM, _APART_KM = 0.8, 25.0, 150.0


@dataclass(frozen=True, slots=True)
class OnePhoto:
    """What one photo says by itself: its number, belief and ledger; no ledger where it says too little to answer."""

    number: int
    read: ReadBelief | None
    ledger: RolloutLedger | None


def photos_apart(
    trajectories: Sequence[Trajectory], readings: Sequence[Reading], photos: int, world: World
) -> tuple[OnePhoto, ...]:
    """Every photo by itself when two of them cannot be of one place; empty when they can, or when nobody can tell."""
    if photos < 2 or world.clues is None:
        return ()
    each = [one_photo(trajectories, readings, number, world) for number in range(photos)]
    readable = [one.read for one in each if one.read is not None and one.ledger is not None]
    priors = world.clues.weigher.priors
    return tuple(each) if any(_apart(a, b, priors) for a, b in combinations(readable, 2)) else ()


def apart_verdict(
    answers: Sequence[PhotoAnswer],
    read: Sequence[ReadBelief | None],
    blank: Verdict,
    why: str = "These photos cannot be of the same place",
) -> Verdict:
    """An abstention for all photos together, with an answer for each; `why` begins the sentence about it."""
    parts = []
    for answer, belief in zip(answers, read, strict=True):
        if answer.lat is None or answer.lon is None:
            parts.append(f"photo {answer.photo + 1} shows too little")
            continue
        named = belief is not None and belief.names(LatLon(lat=answer.lat, lon=answer.lon))
        parts.append(f"photo {answer.photo + 1} {what_the_photo_says(answer, read=named)}")
    text = f"{why}: {', '.join(parts)}."
    return blank.model_copy(
        update={
            "explanation": f"{text} Each photo has its own answer.",
            "contradictions": (Contradiction(about="photos", text=text),),
            "per_photo": tuple(answers),
        }
    )


def one_photo(trajectories: Sequence[Trajectory], readings: Sequence[Reading], number: int, world: World) -> OnePhoto:
    """What the photo with this number says, without the text of the others. Needs what weighs lettering."""
    assert world.clues is not None
    turns = about_photo(trajectories, readings, number)
    own = Trajectory(rollout_id=POOLED, turns=turns)
    reading = readings[number : number + 1]
    read = read_belief([own], reading, world.clues)
    if read is None or read.hypothesis is None:
        return OnePhoto(number, read, None)
    return OnePhoto(number, read, build_ledger(own.model_copy(update={"answer": read.hypothesis}), reading, world))


def _apart(one: ReadBelief, other: ReadBelief, priors: Priors) -> bool:
    (a, _), (b, _) = one.belief.best_point(), other.belief.best_point()
    away = distance_km(a, b)
    if away <= _NEIGHBOURS_KM:
        return False
    sure = one.belief.mass(a, _TOWN_KM) >= _SURE and other.belief.mass(b, _TOWN_KM) >= _SURE
    return (sure and away > _APART_KM) or _together(one.belief, other.belief, priors) < _TOGETHER


def _together(one: Belief, other: Belief, priors: Priors) -> float:
    """How much likelier both readings are in one country than in two drawn by chance."""
    return sum(
        share * other.countries.get(code, 0.0) / max(1e-6, priors.country_share(code))
        for code, share in one.countries.items()
    )
