"""`geotts bench photos`: how right the answers are on labelled photos, in this process and without Ray."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from deployments.cli.console import config_option
from deployments.cli.eval_run import choose_samples, running_figures
from deployments.config import AppArgs
from deployments.wiring.local import local_ports
from geotts_benchmarks.accuracy.gain_of_n import gain_of_n
from geotts_benchmarks.harness import DEFAULT_PHOTOS, Result, print_progress, report
from tts.domain.geo import TABLE_KM
from tts.domain.plan import Depth
from tts.domain.request import LocateOptions
from tts.eval.datasets import load_dataset
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.runs.configuration import config_digest
from tts.eval.runs.journal import Journal
from tts.eval.runs.kind_of_n import kind_of_records
from tts.eval.runs.record import Record
from tts.eval.runs.run_metrics import Figures, figures, measure
from tts.eval.runs.runner import RunSetup, run_samples
from tts.eval.runs.solvers import LocalSolver
from tts.eval.sample import Sample
from tts.geodata.countries import Countries
from tts.geodata.store import DataStore

F = TypeVar("F", bound=Callable[..., Any])
_SPLITS = {"text": ("text",), "notext": ("notext",), "all": ()}


def _parse_numbers(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    """`1,8` → (1, 8), each between 1 and 32."""
    try:
        numbers = tuple(int(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of numbers such as 1,8") from None
    if not all(1 <= n <= 32 for n in numbers):
        raise click.BadParameter("every number must be between 1 and 32")
    return numbers


def rollout_counts(located: str) -> Callable[[F], F]:
    """The option `--n`. `located` says of what each number is."""
    text = f"Rollouts for each {located}: numbers, separated by commas."
    return click.option("--n", "ns", default="1,8", show_default=True, callback=_parse_numbers, help=text)


@click.command()
@click.option("--photos", type=click.Path(path_type=Path), default=DEFAULT_PHOTOS, show_default=True)
@rollout_counts("photo")
@click.option("--split", type=click.Choice([*_SPLITS]), default="text", show_default=True)
@click.option(
    "--seeds",
    type=click.IntRange(1, 20),
    default=1,
    show_default=True,
    help="Runs of each photo, each with another seed; the figures are over all runs.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder in which to keep the run files.")
@click.option("--quick", is_flag=True, help="Use only every fifth photo.")
@config_option
def command(
    args: AppArgs, photos: Path, ns: tuple[int, ...], split: str, seeds: int, out: Path | None, quick: bool
) -> None:
    """Accuracy, names, abstentions, radii and time with depth `deep`. Percentages.

    With `--split all`, photos with text and photos without text also have figures of their own.
    """
    samples = choose_samples(load_dataset("folder", photos), _SPLITS[split], None)
    report("photos", lambda: measure_photos(args, samples[:: 5 if quick else 1], ns, split, seeds, out))


def measure_photos(
    args: AppArgs, samples: Sequence[Sample], ns: Sequence[int], split: str, seeds: int, out: Path | None
) -> Result:
    """Figures for each n, and what the largest gains over the smallest; for `split` "all" also those of text and
    no-text photos apart. Each photo is run with seeds 1 to `seeds`, and all runs count.
    """
    runs: dict[int, list[Record]] = {n: [] for n in ns}
    for seed in range(1, seeds + 1):
        name = "photos" if seeds == 1 else f"photos-seed{seed}"
        found = asyncio.run(locate_all(args, samples, ns, name, out, {"seed": seed}))
        for n, records in found.items():
            runs[n] += records
    parts = ("text", "notext") if split == "all" else ()
    result: Result = {"split": split, "photos": len(samples), "seeds": seeds, "by_n": by_n(args, runs)}
    for n, row in result["by_n"].items():
        print_progress(row_in_words(n, row))
    result |= gain_of_n(runs)
    for part in parts:
        kept = {n: [record for record in records if part in record.tags] for n, records in runs.items()}
        result[part] = by_n(args, kept)
    return result


async def locate_all(
    args: AppArgs,
    samples: Sequence[Sample],
    ns: Sequence[int],
    dataset: str,
    out: Path | None,
    asked: Mapping[str, object] | None = None,
) -> dict[int, list[Record]]:
    """Records for each n, one photo at a time. Each n starts with fresh parts and profits from nothing before it.

    An existing run file under `out` is not continued: a benchmark measures what is there now. `asked` are options that
    differ from `bench_options`.
    """
    found: dict[int, list[Record]] = {}
    with tempfile.TemporaryDirectory(prefix="geotts-bench-") as temporary:
        for n in ns:
            solver = LocalSolver(local_ports(args), deadline_s=args.gateway.default_deadline_s)
            options = bench_options(n).model_copy(update=dict(asked or {}))
            await solver("loc_warm", samples[0].load(), options)
            path = (out or Path(temporary)) / f"{dataset}-n{n}.jsonl"
            path.unlink(missing_ok=True)
            print_progress(f"{len(samples)} samples, n={n}")
            setup = RunSetup(dataset, options, config_digest(args, None))
            with Journal(path) as journal, running_figures(len(samples), f"n={n} ") as show:
                found[n] = []
                async for record in run_samples(samples, solver, journal, setup, concurrency=1):
                    found[n].append(record)
                    show(record)
    return found


def bench_options(n: int) -> LocateOptions:
    """What every sample is asked with: all rollouts run to their end."""
    return LocateOptions(n_parallel=n, depth=Depth.DEEP, stop="none", seed=1, include="full")


def by_n(args: AppArgs, runs: dict[int, list[Record]]) -> dict[str, Result]:
    """Accuracy, radii, calibration and time of the records, by number of rollouts (as text: the keys are JSON).

    `kind_of_n` says whether the rollouts are samples of one policy or of a mixture of models.
    """
    names = PlaceNames(Countries(), DataStore(args.data_dir).gazetteer())
    return {
        str(n): {"kind_of_n": kind_of_records(records), **_result_of_figures(figures(measure(records, names)))}
        for n, records in runs.items()
    }


def row_in_words(n: str, row: Result) -> str:
    """The share of photos whose answer is within 25 km, and the share in which at least one rollout is."""
    best = "not known" if row["best_of_n_25"] is None else f"{row['best_of_n_25']:.1f} %"
    return (
        f"n={n}: within 25 km are the answers to {row['acc_25']:.1f} % of the photos, and at least one rollout of "
        f"{best} (best_of_n_25). Kind of N: {row['kind_of_n']}"
    )


def _result_of_figures(found: Figures) -> Result:
    return {
        "n": found.n,
        "failures": found.failures,
        **{f"acc_{km:g}": value for km, value in zip(TABLE_KM, found.acc_classic, strict=False)},
        "country": found.country,
        "city": found.city,
        "abstained": found.abstained,
        "median_km": found.median_km,
        "radius90_cover": found.radius90_cover,
        "radius90_median_km": found.radius90_median_km,
        "ece": found.ece,
        "brier_skill": found.brier_skill,
        "best_of_n_25": found.best_of_n[3] if found.best_of_n else None,
        "tool_calls": found.tool_calls,
        "shared_first_calls": found.shared_first_calls,
        "p50_s": found.p50_s,
    }
