"""Adds to every verdict the state of the calibration of its radii and confidence."""

from __future__ import annotations

from collections.abc import AsyncIterator

from tts.aio import closing
from tts.domain.answer import Verdict
from tts.domain.calibration import CalibrationState
from tts.ports.closable import close_each
from tts.ports.verification import Verifier, VerifierItem, VerifyRequest


class CalibrationStateVerifier:
    """A `Verifier` in front of another. Two kinds of request are not what was fitted: one in another dialect than
    `dialect`, and one whose answers were drawn again, unless the calibration `knows_draws`."""

    def __init__(self, verifier: Verifier, state: CalibrationState, dialect: str, *, knows_draws: bool) -> None:
        self._verifier = verifier
        self._state = state
        self._dialect = dialect
        self._knows_draws = knows_draws
        self._transferred_state = state.model_copy(update={"state": "transferred"})

    async def aclose(self) -> None:
        """Close the connections of the other."""
        await close_each(self._verifier)

    async def verify(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        """Pass on what the other yields, with the state of the calibration in its verdict."""
        drawn_again = any(trajectory.answer_draws for trajectory in request.trajectories)
        is_fitted_kind = request.options.dialect in (None, self._dialect) and (self._knows_draws or not drawn_again)
        state = self._state if is_fitted_kind else self._transferred_state
        async with closing(self._verifier.verify(request)) as items:
            async for item in items:
                yield item.model_copy(update={"calibration": state}) if isinstance(item, Verdict) else item
