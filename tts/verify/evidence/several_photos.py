"""Detects photos that are sent as one place but show different places: it compares the belief of each photo.

Two photos are of different places when their lettering fits no country together, or when both name towns far apart.
A photo counts as soon as its lettering says something, also where that is too little for an answer of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from tts.clues.belief import Belief
from tts.clues.clue import ClueKind
from tts.clues.line_languages import TEXT_IS_IN, UNCLEAR_LANGUAGE
from tts.clues.priors import Priors
from tts.decision_weights import weights
from tts.domain.answer import PhotoAnswer
from tts.domain.geo import LatLon, distance_km
from tts.domain.reading import Reading
from tts.domain.trajectory import Trajectory, Turn
from tts.verify.evidence.contradiction_texts import what_the_photo_says
from tts.verify.evidence.ledger import POOLED, RolloutLedger
from tts.verify.evidence.ledger_builder import build_ledger
from tts.verify.evidence.reading_belief import ReadBelief, about_photo, read_belief
from tts.verify.evidence.world import World

_W = weights("photos")
# The joint belief against that of two photos of any two places.
_MIN_JOINT_LIKELIHOOD = _W["together"]
# The country that fits both readings best, against the best country of each alone. A word in a script that the other
# country does not use leaves e^-5.2 or less, a shop with a foreign Latin name e^-4.9 or more.
_MIN_SHARED_FIT = math.exp(_W["best_together_nats"])
_MIN_SHARE = 1e-12
_MIN_PRIOR = 1e-6
_MAX_NEIGHBOUR_KM = _W["neighbours_km"]
_MIN_TOWN_MASS = _W["sure"]
_TOWN_RADIUS_KM = _W["town_km"]
_MAX_TOWN_DISTANCE_KM = _W["towns_apart_km"]


@dataclass(frozen=True, slots=True)
class OnePhoto:
    """What one photo says by itself: its number, belief and ledger; no ledger where it says too little to answer."""

    number: int
    read: ReadBelief | None
    ledger: RolloutLedger | None


@dataclass(frozen=True, slots=True)
class DifferentPlaces:
    """Photos that are not of one place, each by itself. `is_certain` is false when only their lettering speaks against
    one country: then it is unlikely, and not excluded."""

    photos: tuple[OnePhoto, ...]
    is_certain: bool

    @property
    def sentence_start(self) -> str:
        """The beginning of the sentence about it."""
        return f"These photos {'cannot' if self.is_certain else 'can hardly'} be of the same place"


def find_different_places(
    trajectories: Sequence[Trajectory], readings: Sequence[Reading], photos: int, world: World
) -> DifferentPlaces | None:
    """Every photo by itself when two of them are not of one place; None when they can be, or when nobody can tell."""
    if photos < 2 or world.clues is None:
        return None
    single_photos = tuple(one_photo(trajectories, readings, number, world) for number in range(photos))
    priors = world.clues.weigher.priors
    beliefs = [one.read.belief for one in single_photos if one.read is not None]
    pairs = [(a, b) for a, b in combinations(beliefs, 2) if _distance_between_km(a, b) > _MAX_NEIGHBOUR_KM]
    is_certain = any(
        _are_in_distant_towns(a, b) or _joint_likelihood(a, b, priors) < _MIN_JOINT_LIKELIHOOD for a, b in pairs
    )
    if is_certain or any(_best_shared_fit(a, b, priors) < _MIN_SHARED_FIT for a, b in pairs):
        return DifferentPlaces(single_photos, is_certain)
    return None


def own_answers_text(answers: Sequence[PhotoAnswer]) -> str:
    """That each photo has its own answer, also one that says too little; empty where none of them has a point."""
    return "Each photo has its own answer." if any(answer.lat is not None for answer in answers) else ""


def has_statement(answer: PhotoAnswer, photo: OnePhoto) -> bool:
    """Whether a photo has an answer, or is in a language that is named."""
    return answer.lat is not None or bool(_language_text(photo.read))


def photo_says(answer: PhotoAnswer, photo: OnePhoto) -> str:
    """“photo 2 says Zaozhuang (China)”, or what else is known of one photo by itself."""
    read = photo.read
    if answer.lat is None or answer.lon is None:
        return f"photo {answer.photo + 1} {_language_text(read) or 'shows too little'}"
    named = read is not None and read.names(LatLon(lat=answer.lat, lon=answer.lon))
    return f"photo {answer.photo + 1} {what_the_photo_says(answer, read=named)}"


def one_photo(trajectories: Sequence[Trajectory], readings: Sequence[Reading], number: int, world: World) -> OnePhoto:
    """What the photo with this number says, without the text of the others. Needs what weighs lettering."""
    assert world.clues is not None
    turns = about_photo(trajectories, readings, number)
    read = read_belief([Trajectory(rollout_id=POOLED, turns=turns)], readings[number : number + 1], world.clues)
    return photo_with_ledger(number, read, turns, readings, world)


def photo_with_ledger(
    number: int, read: ReadBelief | None, turns: tuple[Turn, ...], readings: Sequence[Reading], world: World
) -> OnePhoto:
    """What a photo says with a belief, and with what the turns about it found."""
    if read is None or read.hypothesis is None:
        return OnePhoto(number, read, None)
    own = Trajectory(rollout_id=POOLED, turns=turns, answer=read.hypothesis)
    return OnePhoto(number, read, build_ledger(own, readings[number : number + 1], world))


def _language_text(read: ReadBelief | None) -> str:
    """“has text in Arabic”; empty where the language is not clear."""
    reasons = [clue.why for clue in read.leads.clues if clue.kind is ClueKind.LANGUAGE] if read is not None else []
    named = [why.removeprefix(TEXT_IS_IN) for why in reasons if why.startswith(TEXT_IS_IN)]
    return f"has text in {named[0]}" if named and named[0] != UNCLEAR_LANGUAGE else ""


def _distance_between_km(one: Belief, other: Belief) -> float:
    return distance_km(one.best_point()[0], other.best_point()[0])


def _are_in_distant_towns(one: Belief, other: Belief) -> bool:
    """Whether both are sure of a town, and these lie too far apart."""
    sure = all(belief.mass(belief.best_point()[0], _TOWN_RADIUS_KM) >= _MIN_TOWN_MASS for belief in (one, other))
    return sure and _distance_between_km(one, other) > _MAX_TOWN_DISTANCE_KM


def _joint_likelihood(one: Belief, other: Belief, priors: Priors) -> float:
    """How much likelier both readings are in one country than in two drawn by chance."""
    return sum(
        share * other.countries.get(code, 0.0) / max(_MIN_PRIOR, priors.country_share(code))
        for code, share in one.countries.items()
    )


def _best_shared_fit(one: Belief, other: Belief, priors: Priors) -> float:
    """How well the country that fits both readings best fits them, against the best country of each alone; in [0, 1].

    `_joint_likelihood` compares with two countries drawn by chance, nearly all of which fit a single word as badly as
    the other's country does. It therefore says little against a photo that shows only a word.
    """
    both = [_likelihood_by_country(belief, priors) for belief in (one, other)]
    best = max(fit * both[1].get(code, 0.0) for code, fit in both[0].items())
    return best / (max(both[0].values()) * max(both[1].values()))


def _likelihood_by_country(belief: Belief, priors: Priors) -> dict[str, float]:
    """The likelihood of the reading by country, in any unit."""
    return {
        code: max(_MIN_SHARE, share) / max(_MIN_PRIOR, priors.country_share(code))
        for code, share in belief.countries.items()
    }
