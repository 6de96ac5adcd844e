"""Which kind of N an answer rests on: samples of one policy, or a mixture of models. N gains differently with each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tts.domain.kind_of_n import FittedKind, KindOfN, fitted_kind, kind_of_n
from tts.domain.value import Value
from tts.eval.runs.record import Record


class RolloutsOfAnswer(Value):
    """How many rollouts an answer is from, and of which kind they are."""

    count: int
    kind: KindOfN


def rollouts_of(sources: Sequence[str]) -> RolloutsOfAnswer | None:
    """From the source of each rollout; None without rollouts."""
    if not sources:
        return None
    return RolloutsOfAnswer(count=len(sources), kind=kind_of_n(len(sources), len(set(sources))))


def kind_of_records(records: Iterable[Record]) -> str:
    """The kinds of all answers of recorded requests, in words."""
    return kinds_in_words(_rollouts_of_records(records))


def fitted_kind_of_records(records: Iterable[Record]) -> FittedKind:
    """What a table that is fitted to recorded requests says of their kind of N."""
    return fitted_kind(one.kind for one in _rollouts_of_records(records))


def _rollouts_of_records(records: Iterable[Record]) -> list[RolloutsOfAnswer]:
    answers = (record.answer for record in records if not record.failure)
    found = (rollouts_of([one.source for one in answer.rollouts]) for answer in answers if answer is not None)
    return [one for one in found if one is not None]


def kinds_in_words(answers: Sequence[RolloutsOfAnswer]) -> str:
    """The kinds of all answers of a run, with the number of rollouts; of several kinds, also the photos of each."""
    kinds = Counter(one.kind for one in answers).most_common()
    if not kinds:
        return "not recorded in this run"
    if len(kinds) == 1:
        return _kind_in_words(kinds[0][0], answers)
    return "; ".join(
        f"{_kind_in_words(kind, [one for one in answers if one.kind is kind])} (photos: {n})" for kind, n in kinds
    )


def _kind_in_words(kind: KindOfN, answers: Sequence[RolloutsOfAnswer]) -> str:
    if kind is KindOfN.ONE_SAMPLE:
        return str(kind)
    least, most = min(one.count for one in answers), max(one.count for one in answers)
    return f"{kind}, {least if least == most else f'{least} to {most}'} a photo"
