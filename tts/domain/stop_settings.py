"""Settings: when rollouts are stopped before their end, and whether one of them starts first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tts.domain.hypothesis import Hypothesis
from tts.domain.stop_experience import StopExperience

TownGuess = Callable[[Hypothesis], float]
"""Kilometres from a hypothesis to the centre of the town it names; infinite when it points at something else."""


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """How the rollouts of a request are watched while they run.

    `stop` is a policy (`tts.domain.stop_policy`) unless the request has one; `stragglers` says what becomes of rollouts
    that take several times as long as the others. With `leader` the first rollout starts before the photo was rated,
    and `width` says whether the others wait for its first turn (`tts.ensemble.leader`); they start at its first token,
    or after `prefix_wait_s` seconds, where the engine saves work by that; at once when it is None. With `observer` the
    groups in other replicas wait at most so long for the description of the photos by the first group: an observer is
    asked once for a request, whether or not there is a leader. `experience` is what the policy `loss` learns from the
    requests of this process; without it each request begins anew. With `diverse_first_calls` rollouts begin with
    different tool calls unless a request says otherwise; with `asks_leader` the leader is asked for them, because the
    engine does not divide them itself.
    """

    stop: str = "none"
    stragglers: Literal["wait", "cut", "hedge"] = "cut"
    guesses: TownGuess | None = None
    experience: StopExperience | None = None
    leader: bool = False
    width: Literal["full", "careful"] = "full"
    prefix_wait_s: float | None = None
    observer: bool = False
    diverse_first_calls: bool = False
    asks_leader: bool = True
