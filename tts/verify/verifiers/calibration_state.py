"""Adds to every verdict the state of the calibration of its radii and confidence."""

from __future__ import annotations

from dataclasses import dataclass

from tts.domain.answer import Verdict
from tts.domain.calibration import CalibrationState
from tts.ports.verification import VerifyRequest
from tts.verify.verifiers.verdict_changer import VerdictChanger


@dataclass(frozen=True, eq=False)
class CalibrationStateVerifier(VerdictChanger):
    """A `Verifier` in front of another. Two kinds of request are not what was fitted: one in another dialect than
    `dialect`, and one whose answers were drawn again, unless the calibration `knows_draws`."""

    state: CalibrationState
    dialect: str
    knows_draws: bool

    async def change(self, request: VerifyRequest, verdict: Verdict) -> Verdict:
        """The verdict with the state of the calibration."""
        drawn_again = any(trajectory.answer_draws for trajectory in request.trajectories)
        is_fitted_kind = request.options.dialect in (None, self.dialect) and (self.knows_draws or not drawn_again)
        state = self.state if is_fitted_kind else self.state.model_copy(update={"state": "transferred"})
        return verdict.model_copy(update={"calibration": state})
