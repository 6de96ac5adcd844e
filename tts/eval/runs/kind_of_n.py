"""Which kind of N an answer rests on: samples of one policy, or a mixture of models. N gains differently with each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from tts.domain.value import Value
from tts.eval.runs.record import Record


class KindOfN(StrEnum):
    """What the rollouts of one answer are to each other."""

    ONE_SAMPLE = "one sample of one policy"
    ONE_POLICY = "samples of one policy"
    MIXTURE = "a mixture of models"


class RolloutsOfAnswer(Value):
    """How many rollouts an answer is from, and of which kind they are."""

    count: int
    kind: KindOfN


def rollouts_of(sources: Sequence[str]) -> RolloutsOfAnswer | None:
    """From the source of each rollout; None without rollouts."""
    if not sources:
        return None
    one = KindOfN.ONE_SAMPLE if len(sources) == 1 else KindOfN.ONE_POLICY
    return RolloutsOfAnswer(count=len(sources), kind=KindOfN.MIXTURE if len(set(sources)) > 1 else one)


def kind_of_records(records: Iterable[Record]) -> str:
    """The kinds of all answers of recorded requests, in words."""
    answers = (record.answer for record in records if not record.failure)
    found = (rollouts_of([one.source for one in answer.rollouts]) for answer in answers if answer is not None)
    return kinds_in_words([one for one in found if one is not None])


def kinds_in_words(answers: Sequence[RolloutsOfAnswer]) -> str:
    """The kinds of all answers of a run, with the number of rollouts; of several kinds, also the photos of each."""
    kinds = Counter(one.kind for one in answers).most_common()
    if not kinds:
        return "not recorded in this run"
    if len(kinds) == 1:
        return _words(kinds[0][0], answers)
    return "; ".join(f"{_words(kind, [one for one in answers if one.kind is kind])} (photos: {n})" for kind, n in kinds)


def _words(kind: KindOfN, answers: Sequence[RolloutsOfAnswer]) -> str:
    if kind is KindOfN.ONE_SAMPLE:
        return str(kind)
    least, most = min(one.count for one in answers), max(one.count for one in answers)
    return f"{kind}, {least if least == most else f'{least} to {most}'} a photo"
