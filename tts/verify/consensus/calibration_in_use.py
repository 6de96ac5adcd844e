"""Chooses the calibration for a configuration, and states whether it was fitted to its engine."""

from __future__ import annotations

from dataclasses import dataclass

from tts.config import PipelineConfig
from tts.domain.calibration import CalibrationState
from tts.verify.consensus.calibration import Calibration, is_shipped, load, shipped_calibration
from tts.verify.consensus.installed_calibrations import installed_calibration
from tts.verify.consensus.reliability import Reliability, load_reliability


@dataclass(frozen=True, slots=True)
class CalibrationInUse:
    """A calibration with what answers say of it."""

    calibration: Calibration
    state: CalibrationState


def calibration_in_use(args: PipelineConfig) -> CalibrationInUse:
    """The file that the configuration names, else the installed one, else what ships for the engine, else the general
    one, which was fitted to other engines. A named file that was fitted to the other kind of N is transferred.

    Raises:
        DataError: when the named file cannot be read.
    """
    named = args.verifier.calibration
    if named is not None:
        calibration = load(named)
        return _with_state(calibration, fitted=not calibration.kind_of_n.is_other_than(args.kind_of_n))
    own = installed_calibration(args)
    if own is not None:
        return _with_state(own, fitted=True)
    if args.engines:  # nobody has fitted this mixture
        return _with_state(shipped_calibration("default"), fitted=False)
    return _with_state(shipped_calibration(args.engine.name), fitted=is_shipped(args.engine.name))


def reliability_in_use(args: PipelineConfig) -> Reliability | None:
    """What is known of the sources of a mixture; None where they are anonymous. Raises DataError for a bad file."""
    file = args.verifier.sources
    return None if file is None else load_reliability(file)


def _with_state(calibration: Calibration, *, fitted: bool) -> CalibrationInUse:
    state = CalibrationState(
        state="fitted" if fitted else "transferred",
        origin=calibration.origin,
        photos=calibration.runs,
        kind_of_n=calibration.kind_of_n,
    )
    return CalibrationInUse(calibration, state)
