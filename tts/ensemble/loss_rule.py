"""The stop policy `loss`: it stops the running rollouts if the expected loss of accuracy is small enough.

Each state of a request is asked about once, so that waiting never turns a refusal into a stop. Where all rollouts have
ended, the states on the way are compared with the last one, and the service has learned something for free.
"""

from __future__ import annotations

from tts.decision_weights import weights
from tts.domain.stop_experience import StopExperience, StopState
from tts.domain.stop_table import Band, band_of
from tts.ensemble.vote_count import VoteCount
from tts.verify.consensus.guesswork import CENTRE_KM

_W = weights("watch")
_REGION_CENTRE_KM = _W["region_centre_km"]
_PERCENTAGE_POINT = 0.01


def guess_tolerance_km(radius_km: float) -> float | None:
    """How near to the centre of its town a point is a guess; None where a country is wanted: guesses tell nothing."""
    tolerances = {Band.TOWN: CENTRE_KM, Band.REGION: _REGION_CENTRE_KM}
    return tolerances.get(band_of(radius_km))


class LossRule:
    """Of one request. `loss_points`: percentage points of right answers that may be lost on average."""

    def __init__(self, experience: StopExperience, radius_km: float, loss_points: float) -> None:
        self._experience = experience
        self._band = band_of(radius_km)
        self._allowed_loss = loss_points * _PERCENTAGE_POINT
        self._may_stop = True
        self._has_begun = False
        self._learned_sizes: set[int] = set()
        self._decisions: dict[StopState, tuple[VoteCount, bool]] = {}

    def should_stop(self, vote_count: VoteCount, ended: int, n: int) -> bool:
        """Whether the rollouts that still run are to be stopped, now that `ended` of `n` have ended."""
        if not self._has_begun:
            self._has_begun = True
            self._may_stop = self._experience.begin_request(self._band, self._allowed_loss)
        state = StopState(self._band, n, ended, vote_count.cell)
        if state.remaining <= 0:
            self._learn(vote_count, n)
            return False
        if state not in self._decisions:
            stops = self._may_stop and _may_decide(state) and self._experience.withdraw_loss(state, self._allowed_loss)
            self._decisions[state] = vote_count, stops
        return self._decisions[state][1]

    def _learn(self, last: VoteCount, n: int) -> None:
        if n in self._learned_sizes:
            return
        self._learned_sizes.add(n)
        for state, (vote_count, _) in self._decisions.items():
            if state.n == n and _may_decide(state):
                self._experience.learn(state, vote_count.probability_of_change(last), last.votes)


def _may_decide(state: StopState) -> bool:
    """A rollout alone is enough only where it guesses: it has recognised nothing, and more rarely do."""
    return state.ended >= 2 or (state.ended == 1 and state.cell.guess)
