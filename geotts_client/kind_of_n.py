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
    """Name the kind of N of the rollouts of one request.

    Args:
        count: number of rollouts, 1 or more.
        models: number of different models that share them, 1 or more.

    Returns:
        A mixture from two models on; of one model, a single sample or several samples of its policy.
    """
    if models > 1:
        return KindOfN.MIXTURE
    return KindOfN.ONE_SAMPLE if count == 1 else KindOfN.ONE_POLICY


def of_models(count: int, models: int) -> str:
    """Word the models of rollouts, to follow their number.

    Args:
        count: number of rollouts, 0 or more.
        models: number of different models that share them, 1 or more.

    Returns:
        “ of one model” or “ of 2 models”, with a space in front; empty for fewer than two rollouts.
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
        """Tell whether no run was of a kind of N.

        Args:
            kind: that of a request which uses the table.

        Returns:
            True if the runs were of the other kind only; false if their kind is not stated.
        """
        own = FittedKind.MIXTURE if kind is KindOfN.MIXTURE else FittedKind.ONE_POLICY
        return self not in (own, FittedKind.BOTH, FittedKind.NOT_STATED)


def fitted_kind(kinds: Iterable[KindOfN]) -> FittedKind:
    """Sum up the kinds of N of runs to which a table is fitted.

    Args:
        kinds: that of each answer.

    Returns:
        The kind of all of them, or that they are of both; a single sample counts as one of one policy. Without any
        answer, the kind is not stated.
    """
    mixed = {kind is KindOfN.MIXTURE for kind in kinds}
    if not mixed:
        return FittedKind.NOT_STATED
    if len(mixed) > 1:
        return FittedKind.BOTH
    return FittedKind.MIXTURE if True in mixed else FittedKind.ONE_POLICY
