"""What a service learns about stopping from its own requests, and the reserve that keeps the loss below its limit.

Every request adds the allowed loss to a reserve. A stop subtracts its expected loss. It is refused if the reserve is
smaller than this loss, or if the same loss would save more elsewhere: the smaller the reserve, the more a stop must
save for its loss. The expected loss comes from recorded runs of other rollouts (`tts.domain.stop_table`). It is doubled
as a safety margin (ADR 0039), until requests whose rollouts all ended show how often *these* rollouts change their
answer. No truth is needed for that. One request in 64 is never stopped, so that states in which everybody is stopped
are seen to their end as well.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from tts.decision_weights import weights
from tts.domain.stop_table import Band, BandTable, Cell, StopTable, shipped_stop_table

_W = weights("watch")
_LOSS_FACTOR = _W["stop_doubt"]
_PRIOR_REQUESTS = _W["stop_prior_looks"]
_FIRST_DEPOSITS = _W["stop_first_deposits"]
_MAX_DEPOSITS = _W["stop_most_deposits"]
_MAX_PRICE = _W["stop_dearest"]
_FULL_RUN_ONE_IN = round(_W["stop_seen_through_one_in"])


@dataclass(frozen=True, slots=True)
class StopState:
    """Where a request stands: `ended` of `n` rollouts, and their agreement."""

    band: Band
    n: int
    ended: int
    cell: Cell

    @property
    def remaining(self) -> int:
        """Rollouts that still run."""
        return self.n - self.ended


@dataclass(slots=True)
class _Account:
    balance: float
    requests: int = 0


@dataclass(slots=True)
class _Observations:
    count: int = 0
    loss: float = 0.0


@dataclass(slots=True)
class StopExperience:
    """Of one process: requests share it, and it starts anew with the process. Losses are shares, from 0 to 1."""

    table: StopTable = field(default_factory=shipped_stop_table)
    _accounts: dict[tuple[Band, float], _Account] = field(default_factory=dict)
    _observations: defaultdict[StopState, _Observations] = field(default_factory=lambda: defaultdict(_Observations))

    def begin_request(self, band: Band, allowed: float) -> bool:
        """A request begins that may lose `allowed` on average; whether it may be stopped at all."""
        first = _Account(_FIRST_DEPOSITS * allowed)
        account = self._accounts.setdefault((band, allowed), first)
        account.balance = min(_MAX_DEPOSITS * allowed, account.balance + allowed)
        account.requests += 1
        return account.requests % _FULL_RUN_ONE_IN != 0

    def expected_loss(self, state: StopState) -> float:
        """The share of right answers that stopping here is expected to lose."""
        prior = _PRIOR_REQUESTS * min(1.0, _LOSS_FACTOR * self._table(state.band).loss(state.cell, state.remaining))
        seen = self._observations.get(state, _Observations())
        return max(0.0, (prior + seen.loss) / (_PRIOR_REQUESTS + seen.count))

    def withdraw_loss(self, state: StopState, allowed: float) -> bool:
        """Take what stopping here is expected to lose out of the account.

        Returns:
            False, and nothing is taken, where it is too much for the account, or too dear for what it saves.
        """
        account = self._accounts[state.band, allowed]
        loss = self.expected_loss(state)
        price = _MAX_PRICE * account.balance / (_MAX_DEPOSITS * allowed) if allowed else 0.0
        if loss > account.balance or loss * state.n > price * state.remaining:
            return False
        account.balance -= loss
        return True

    def learn(self, state: StopState, moved: float, votes: int) -> None:
        """All rollouts of a request ended that once stood at `state`: with which probability the place then in front is
        not the one in front now, and by how many witnesses that has its place."""
        observations = self._observations[state]
        observations.count += 1
        if moved and votes:
            observations.loss += min(1.0, moved * _LOSS_FACTOR * self._table(state.band).worth[min(votes, 3) - 1])

    def _table(self, band: Band) -> BandTable:
        return self.table.bands[band]
