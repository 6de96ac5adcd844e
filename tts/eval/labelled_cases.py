"""Cases: what a verifier saw of one photo, with the true place. They come from run files and from folders of published
logs. One case in four is thinned to fewer rollouts, so that a calibration also knows how much less a lone rollout says.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tts.domain.geo import LatLon
from tts.domain.kind_of_n import FittedKind, fitted_kind
from tts.domain.reading import Reading
from tts.domain.trajectory import Trajectory
from tts.errors import DataError
from tts.eval.panel import Panel, panels_from_logs
from tts.eval.runs.kind_of_n import RolloutsOfAnswer, kinds_in_words, rollouts_of
from tts.eval.runs.record import read_records

_INCOMPLETE_ONE_IN = 4


@dataclass(frozen=True, slots=True)
class LabelledCase:
    """The rollouts about one photo whose true place is known."""

    key: str
    truth: LatLon
    trajectories: tuple[Trajectory, ...]
    readings: tuple[Reading, ...] = ()


def cases_of(source: Path) -> list[LabelledCase]:
    """Cases of a run file (JSON Lines or Parquet) or of a folder of logs.

    Raises:
        DataError: when it is neither, or holds nothing.
    """
    if source.is_dir():
        return cases_of_panels(*panels_from_logs(source))
    if not source.exists():
        raise DataError(f"there is no run at {source}")
    records = read_records(source)
    return [
        LabelledCase(r.sample, r.truth.point, r.run.trajectories)
        for r in records
        if r.run is not None and not r.failure
    ]


def cases_of_panels(names: Sequence[str], panels: Sequence[Panel]) -> list[LabelledCase]:
    """The cases of published logs; each rollout names the log that it is from."""
    return [LabelledCase(panel.key, panel.truth, _name_sources(panel, names)) for panel in panels]


def _name_sources(panel: Panel, names: Sequence[str]) -> tuple[Trajectory, ...]:
    """The rollouts of a panel with the logs that they are from."""
    pairs = zip(panel.trajectories, panel.sources, strict=True)
    return tuple(one.model_copy(update={"source": names[at]}) for one, at in pairs)


def thin_out_cases(
    cases: Iterable[LabelledCase], *, one_in: int = _INCOMPLETE_ONE_IN, seed: int = 0
) -> list[LabelledCase]:
    """The cases, one in `one_in` with only some of its rollouts."""
    found = []
    for case in cases:
        rng = random.Random(f"{seed}/{case.key}")
        n = len(case.trajectories)
        if n > 1 and rng.randrange(one_in) == 0:
            found.append(replace(case, trajectories=tuple(rng.sample(case.trajectories, rng.randint(1, n - 1)))))
        else:
            found.append(case)
    return found


def kind_of_cases(cases: Iterable[LabelledCase]) -> str:
    """What the rollouts of each case are to each other: samples of one policy, or a mixture of models; in words."""
    return kinds_in_words(_rollouts_of_cases(cases))


def fitted_kind_of_cases(cases: Iterable[LabelledCase]) -> FittedKind:
    """What a table that is fitted to these cases says of their kind of N."""
    return fitted_kind(rollouts.kind for rollouts in _rollouts_of_cases(cases))


def _rollouts_of_cases(cases: Iterable[LabelledCase]) -> list[RolloutsOfAnswer]:
    found = (rollouts_of([trajectory.source for trajectory in case.trajectories]) for case in cases)
    return [rollouts for rollouts in found if rollouts is not None]
