"""The kind of N: the rollouts of a request are samples of one policy, or of a mixture of models."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class KindOfN(StrEnum):
    """What the rollouts of one answer are to each other."""

    ONE_SAMPLE = "one sample of one policy"
    ONE_POLICY = "samples of one policy"
    MIXTURE = "a mixture of models"


def kind_of_n(count: int, models: int) -> KindOfN:
    """The kind of so many rollouts of so many different models.

    Args:
        count: number of rollouts, 1 or more.
        models: number of different models that share them, 1 or more.

    Returns:
        The mixture if there are several models, else one sample or several samples of one policy.
    """
    if models > 1:
        return KindOfN.MIXTURE
    return KindOfN.ONE_SAMPLE if count == 1 else KindOfN.ONE_POLICY


def of_models(count: int, models: int) -> str:
    """Name the models of several rollouts, for the end of a text such as "4 attempts".

    Args:
        count: number of rollouts, 0 or more.
        models: number of different models that share them, 1 or more.

    Returns:
        " of one model" or " of 2 models", beginning with a space; empty for a single rollout or none.
    """
    if count < 2:
        return ""
    return " of one model" if models == 1 else f" of {models} models"


class FittedKind(StrEnum):
    """The kind of N of the runs to which a table was fitted. `both kinds`: some runs were of each kind."""

    ONE_POLICY = KindOfN.ONE_POLICY.value
    MIXTURE = KindOfN.MIXTURE.value
    BOTH = "both kinds"
    NOT_STATED = "not stated"

    def is_other_than(self, kind: KindOfN) -> bool:
        """Whether no run was of this kind. False if the kind of the runs is not stated.

        Args:
            kind: that of a request which uses the table.

        Returns:
            True if all runs were of the other kind.
        """
        own = FittedKind.MIXTURE if kind is KindOfN.MIXTURE else FittedKind.ONE_POLICY
        return self not in (own, FittedKind.BOTH, FittedKind.NOT_STATED)


def fitted_kind(kinds: Iterable[KindOfN]) -> FittedKind:
    """The kind of runs whose answers have these kinds; a single sample is one of one policy.

    Args:
        kinds: that of each answer.

    Returns:
        `BOTH` if some answers are of each kind, and `NOT_STATED` if there are no answers.
    """
    mixed = {kind is KindOfN.MIXTURE for kind in kinds}
    if not mixed:
        return FittedKind.NOT_STATED
    if len(mixed) > 1:
        return FittedKind.BOTH
    return FittedKind.MIXTURE if True in mixed else FittedKind.ONE_POLICY
