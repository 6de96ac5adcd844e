"""`geotts bench scenes`: accuracy on signs that the project draws itself, script by script."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import click

from deployments.cli.console import config_option
from deployments.config import AppArgs
from geotts_benchmarks.accuracy.draw_agreement import draw_agreement
from geotts_benchmarks.accuracy.photos import by_n, locate_all, rollout_counts
from geotts_benchmarks.harness import Result, print_progress, report
from tts.domain.request import MAX_QUESTIONS
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.runs.kind_of_n import kind_of_records
from tts.eval.runs.record import Record
from tts.eval.runs.run_metrics import right_country
from tts.eval.scenes.generate import SceneMaker
from tts.eval.scenes.words import SPLITS, Split
from tts.geodata.countries import Countries


@click.command()
@click.option("--count", type=click.IntRange(min=1), default=400, show_default=True)
@rollout_counts("scene")
@click.option("--split", type=click.Choice([*SPLITS]), default="held_out", show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--near", is_flag=True, help="Draw only the signs near the camera, and none farther down the street.")
@click.option("--stop", default="none", show_default=True, help="Stop policy.")
@click.option(
    "--questions",
    type=click.IntRange(0, MAX_QUESTIONS),
    default=0,
    show_default=True,
    help="Tool calls of the verifier.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder in which to keep the run files.")
@click.option("--quick", is_flag=True, help="Use 43 scenes, with one rollout each.")
@config_option
def command(
    args: AppArgs, count: int, ns: tuple[int, ...], split: str, seed: int, near: bool, stop: str, questions: int,
    out: Path | None, quick: bool,
) -> None:  # fmt: skip
    """Accuracy on rendered signs with known towns; right countries by script and by clue. Percentages.

    `country_recall` is measured on scenes whose words fit one country only. Public tables decide this, not the engine.
    """
    if quick:
        count, ns = min(count, 43), (1,)
    maker = SceneMaker(seed=seed, split=cast(Split, split), street=not near)
    asked = {"stop": stop, "verifier_questions": questions}
    report("scenes", lambda: measure_scenes(args, maker, count, ns, out, asked))


def measure_scenes(
    args: AppArgs,
    maker: SceneMaker,
    count: int,
    ns: Sequence[int],
    out: Path | None,
    asked: Mapping[str, object] | None = None,
) -> Result:
    """Figures for each n, also of scenes that name a town; recalls in percent and draws are those of the largest n."""
    for script, reason in maker.shelf.missing.items():
        print_progress(f"{script} is left out: {reason}")
    runs = asyncio.run(locate_all(args, maker.samples(count), ns, f"scenes-{maker.split}", out, asked))
    most = runs[max(runs)]
    towns = {n: [record for record in records if "clue:town" in record.tags] for n, records in runs.items()}
    return {
        "kind_of_n": kind_of_records(most),
        "count": count,
        "split": maker.split,
        "scene_seed": maker.seed,
        "near": not maker.street,
        "by_n": by_n(args, runs),
        "by_n_towns": by_n(args, towns),
        **_country_recalls(most),
        **draw_agreement(most),
        "not_drawn": maker.shelf.missing,
    }


def _country_recalls(records: Sequence[Record]) -> Result:
    """Recall where the words of a scene allow one country only, and beside it where they would fit others as well."""
    determined = [record for record in records if "determined" in record.tags]
    open_ = [record for record in records if "undetermined" in record.tags]
    return {
        "country_recall": _country_recall(determined),
        "country_recall_undetermined": _country_recall(open_),
        "country_recall_all": _country_recall(records),
        "undetermined_share": round(100.0 * len(open_) / max(1, len(records)), 1),
        "per_script": _country_recall_by_tag(determined, "script:"),
        "per_clue": _country_recall_by_tag(determined, "clue:"),
    }


def _country_recall_by_tag(records: Sequence[Record], prefix: str) -> dict[str, float]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        for tag in record.tags:
            if tag.startswith(prefix):
                groups.setdefault(tag.removeprefix(prefix), []).append(record)
    return {name: _country_recall(group) for name, group in sorted(groups.items())}


def _country_recall(records: Sequence[Record]) -> float:
    """Share of right countries; a broken request is no answer and counts as a miss here."""
    names = PlaceNames(Countries())
    return round(100.0 * sum(right_country(record, names) for record in records) / len(records), 2) if records else 0.0
