"""Fits the table that budgets go by (`tts.routing.budget_table`) to recorded runs.

Every way to spend that was recorded is a row, as it was measured; nothing is filled in between. Runs that spend in the
same way are one row. Only photos that were located in every way count, so that rows can be compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tts.domain.geo import distance_km
from tts.domain.plan import Depth
from tts.errors import DataError
from tts.eval.metrics.intervals import share_interval
from tts.eval.runs.kind_of_n import fitted_kind_of_records, kind_of_records
from tts.eval.runs.record import Record
from tts.routing.budget_table import RADIUS_KM, Amount, BudgetRow, BudgetTable, RightShare

_DIGITS = 2
HEADROOM = 4 / 3
"""Of a token limit: the loop keeps back up to a quarter, so that the answer can be written."""


class Way(NamedTuple):
    """How a request may spend."""

    n: int
    turns: int
    answer_draws: int
    questions: int
    stop: str


def fit_budget(runs: Mapping[str, Sequence[Record]], *, origin: str = "", command: str = "") -> BudgetTable:
    """The table of runs by their names.

    Raises:
        DataError: a run was recorded with depth auto or without naming its stop policy, so that nobody knows what was
            spent; runs of several engines; no photo that has an answer in every way.
    """
    found: defaultdict[Way, list[Record]] = defaultdict(list)
    for name, records in runs.items():
        kept = [record for record in records if not record.failure and record.answer is not None]
        if kept:
            found[_way_of(name, records)] += kept
    common = set[str].intersection(*({record.sample for record in records} for records in found.values() or [[]]))
    if not common:
        raise DataError("no photo of these runs has an answer in each of them")
    rows = [_row(way, [one for one in records if one.sample in common]) for way, records in sorted(found.items())]
    used = [record for records in found.values() for record in records if record.sample in common]
    photos = f"{len(runs)} runs, {len(used)} requests; N: {kind_of_records(used)}"
    return BudgetTable(
        origin=origin or photos,
        command=command,
        kind_of_n=fitted_kind_of_records(used),
        engine=_engine_of(found.values()),
        rows=tuple(rows),
    )


def _way_of(name: str, records: Sequence[Record]) -> Way:
    options = records[0].options
    if any(record.options != options for record in records):
        raise DataError(f"{name}: its requests were not all asked the same")
    if options.depth is Depth.AUTO or options.stop is None:
        raise DataError(f"{name}: record it with --depth deep (or direct, standard) and --stop, such as --stop none")
    planned = [record.run.routed.plan.limits for record in records if record.run and record.run.routed]
    if not planned:
        raise DataError(f"{name}: it holds no plans: record it with this release")
    asked = [sum(len(turn.calls) for turn in record.run.inquiry) for record in records if record.run is not None]
    return Way(
        n=options.n_parallel,
        turns=max(limits.max_turns for limits in planned),
        answer_draws=planned[0].answer_draws or 1,
        questions=options.verifier_questions if options.verifier_questions is not None else max(asked),
        stop=options.stop,
    )


def _engine_of(groups: Iterable[Sequence[Record]]) -> str:
    answers = [record.answer for records in groups for record in records if record.answer is not None]
    engines = {answer.provenance.engine for answer in answers}
    if len(engines) != 1:
        raise DataError(f"these runs are of several engines ({', '.join(sorted(engines))}): fit a table for each")
    return engines.pop()


def _row(way: Way, records: Sequence[Record]) -> BudgetRow:
    written = [_written_tokens(record) for record in records]
    needed = [HEADROOM * way.n * max(one, default=0) for one in written]
    read = [record.answer.usage.prompt_tokens for record in records if record.answer is not None]
    return BudgetRow(
        **way._asdict(),
        photos=len(records),
        right={band: right_share([_is_hit(one, km) for one in records]) for band, km in RADIUS_KM.items()},
        tokens=amount([sum(one) for one in written]).model_copy(update={"p90": amount(needed).p90}),
        prompt_tokens=amount(read),
        tool_calls=amount([record.answer.usage.tool_calls for record in records if record.answer is not None]),
        seconds=amount([record.elapsed_s for record in records]),
    )


def _written_tokens(record: Record) -> list[int]:
    """Tokens that each rollout of a request wrote."""
    return [one.usage.completion_tokens for one in record.run.trajectories] if record.run is not None else []


def right_share(hits: Sequence[bool]) -> RightShare:
    """The share of answers that are right, with its interval."""
    share = share_interval(np.array(hits, dtype=np.float64))
    return RightShare(**{name: round(getattr(share, name), _DIGITS) for name in RightShare.model_fields})


def _is_hit(record: Record, radius_km: float) -> bool:
    point = record.answer.point if record.answer is not None else None
    reach_km = max(radius_km, record.truth.slack_km)
    return point is not None and distance_km(point, record.truth.point) < reach_km


def amount(values: Sequence[float]) -> Amount:
    """The mean of costs, and what nine of ten of them do not exceed."""
    return Amount(mean=round(float(np.mean(values)), _DIGITS), p90=round(float(np.quantile(values, 0.9)), _DIGITS))
