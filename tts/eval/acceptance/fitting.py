"""Fits a calibration to the labelled photos of an acceptance run and installs it for engine, dialect and tools.

The shipped samples take no part: they are drawn signs, and say nothing about anybody's photos.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from tts.config import PipelineConfig
from tts.domain.reading import Reading
from tts.domain.value import Value
from tts.eval.calibration_fitting import CalibrationQuality, held_out_quality, mean_of, verdict_columns, with_regions
from tts.eval.labelled_cases import LabelledCase, fitted_kind_of_cases, thin_out_cases
from tts.eval.runs.record import Record
from tts.verify.consensus.calibration_in_use import calibration_in_use, reliability_in_use
from tts.verify.consensus.installed_calibrations import install, installed_calibration
from tts.verify.consensus.radius_fitting import MIN_RUNS, fit
from tts.verify.evidence.world import World

_N_SPLITS = 20


class CalibrationFit(Value):
    """What became of the calibration.

    `photos` had an answer that it could be fitted to, `needed` is the least number of them. `held` is how calibrations
    made from random halves did on the other halves; None with fewer than twice `needed`. `file` is empty where nothing
    was installed, and `why` says why. `replaced_photos` is how many photos the one that was there rested on.
    `overruled_by` is a file that the configuration names, which is used instead. `state` is what answers say now.
    """

    photos: int
    needed: int = MIN_RUNS
    file: str = ""
    origin: str = ""
    why: str = ""
    replaced_photos: int = 0
    overruled_by: str = ""
    state: Literal["fitted", "transferred"] = "transferred"
    held: CalibrationQuality | None = None

    @property
    def is_installed(self) -> bool:
        """Whether a calibration was written; it is not in use where `overruled_by` names another."""
        return bool(self.file)


def fit_and_install(
    records: Sequence[Record],
    args: PipelineConfig,
    world: World,
    *,
    origin: str,
    keep: bool,
    readings: Mapping[str, tuple[Reading, ...]] | None = None,
) -> CalibrationFit:
    """Fit on `records` of photos with known places; install it if `keep`. Takes a second for a hundred photos.

    `readings` are the text and clues of its photo that a verifier gets, by sample: a run file does not keep them.

    Raises:
        DataError: when the folder of calibrations cannot be written.
    """
    cases = [
        LabelledCase(
            record.sample, record.truth.point, record.run.trajectories, (readings or {}).get(record.sample, ())
        )
        for record in records
        if record.run is not None and not record.failure
    ]
    columns = verdict_columns(thin_out_cases(cases), world, reliability_in_use(args))
    photos = len(columns.spreads)
    if photos < MIN_RUNS:
        return CalibrationFit(
            photos=photos, why=_too_few_photos_text(photos, len(records)), state=calibration_in_use(args).state.state
        )
    fitted = fit(columns.spreads, columns.errors_km, origin=origin)
    about = {"kind_of_n": fitted_kind_of_cases(cases), "dependence": columns.dependence}
    calibration = with_regions(fitted.model_copy(update=about), columns)
    before, file = installed_calibration(args), install(calibration, args) if keep else None
    named = args.verifier.calibration
    return CalibrationFit(
        photos=photos,
        origin=origin,
        held=mean_of([held_out_quality(columns, seed=seed) for seed in range(_N_SPLITS)])
        if photos >= 2 * MIN_RUNS
        else None,
        file=str(file or ""),
        why="" if keep else "the calibration was not installed, as asked (--no-install)",
        replaced_photos=before.runs if before is not None and keep else 0,
        overruled_by=str(named or ""),
        state=calibration_in_use(args).state.state,
    )


def _too_few_photos_text(photos: int, labelled: int) -> str:
    if not labelled:
        return (
            f"nothing was fitted: it takes at least {MIN_RUNS} labelled photos of your own with an answer (--photos), "
            "and none was given; the samples are drawn signs and take no part"
        )
    return (
        f"nothing was fitted: {photos} of your {labelled} labelled photos have an answer with a point, and it takes at "
        f"least {MIN_RUNS}; the samples are drawn signs and take no part"
    )
