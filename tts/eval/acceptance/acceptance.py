"""All that an acceptance run found out about an engine."""

from __future__ import annotations

from collections.abc import Sequence

from tts.config import PipelineConfig
from tts.domain.value import Value
from tts.eval.acceptance.costs import Costs, costs
from tts.eval.acceptance.faults import FaultRates, fault_rates, frequent_failures, frequent_mistakes, frequent_problems
from tts.eval.acceptance.findings import Finding, Words, findings
from tts.eval.acceptance.fitting import CalibrationFit
from tts.eval.acceptance.published_comparison import compare_with_published
from tts.eval.acceptance.quality import Quality, quality
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.runs.record import Record
from tts.eval.runs.report import Table
from tts.eval.runs.run_metrics import measure
from tts.verify.consensus.installed_calibrations import CalibrationKey, calibration_key

OWN = "own"
SAMPLE = "sample"


class Acceptance(Value):
    """`photos` were located, `failed` of them without any answer, `left` wait for the next run of the same command.

    `quality` is over the user's labelled photos, `samples` over the shipped ones; None where there were none. Faults
    and costs are over both.
    """

    engine: CalibrationKey
    rollouts: int
    photos: int
    failed: int
    left: int
    faults: FaultRates
    costs: Costs
    quality: Quality | None
    samples: Quality | None
    published: tuple[Table, ...]
    findings: tuple[Finding, ...]
    calibration: CalibrationFit
    run_file: str

    @property
    def has_faults(self) -> bool:
        """Whether anything was found that spoils answers."""
        return any(finding.kind == "fault" for finding in self.findings)


def assess(
    records: Sequence[Record],
    args: PipelineConfig,
    names: PlaceNames,
    fitted: CalibrationFit,
    *,
    dataset: str,
    rollouts: int,
    left: int,
    offers_tools: bool,
    run_file: str,
) -> Acceptance:
    """Put together what the records of one run show. Samples carry the tag `sample`, the user's photos `own`."""
    runs = [record.run for record in records if record.run is not None]
    parts = {tag: measure([record for record in records if tag in record.tags], names) for tag in (OWN, SAMPLE)}
    found = {tag: quality(part, rollouts) if part.records else None for tag, part in parts.items()}
    faults, spent = fault_rates(runs), costs(records)
    telling = found[OWN] or found[SAMPLE]
    words = Words(frequent_problems(runs), frequent_failures(runs), frequent_mistakes(runs))
    return Acceptance(
        engine=calibration_key(args),
        rollouts=rollouts,
        photos=len(records),
        failed=sum(bool(record.failure) for record in records),
        left=left,
        faults=faults,
        costs=spent,
        quality=found[OWN],
        samples=found[SAMPLE],
        published=compare_with_published(args.dialect, dataset, parts[OWN]),
        findings=findings(faults, spent, telling, args, words, offers_tools=offers_tools),
        calibration=fitted,
        run_file=run_file,
    )
