"""`geotts accept`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from deployments.cli import shared_options
from deployments.cli.accept_run import AcceptRun
from deployments.cli.built_data import ensure_data
from deployments.cli.console import (
    EXIT_FAILED,
    EXIT_FAULTS,
    EXIT_INTERRUPTED,
    STDERR,
    config_option,
    fail,
    profile_options,
)
from deployments.cli.photo_readings import photo_readings
from deployments.cli.text_console import TextConsole
from deployments.config import AppArgs
from deployments.endpoints.key_and_price import price_is_known
from deployments.endpoints.listed_models import check_endpoint
from deployments.wiring.local import local_tools
from deployments.wiring.parts import make_dialect, make_world
from tts.config import OpenAIEngine
from tts.domain.request import MAX_PARALLEL
from tts.eval.acceptance.acceptance import OWN, Acceptance, assess
from tts.eval.acceptance.allowance import Allowance
from tts.eval.acceptance.faults import has_reply_or_overflow
from tts.eval.acceptance.fitting import fit_and_install
from tts.eval.acceptance.photos import acceptance_photos
from tts.eval.acceptance.report import acceptance_markdown, acceptance_page
from tts.eval.datasets import DATASETS
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.runs.record import Record
from tts.geodata.countries import Countries
from tts.routing.depth_router import NO_PRICE
from tts.verify.consensus.radius_fitting import MIN_RUNS

_STDOUT = TextConsole()


@click.command()
@click.option(
    "--photos",
    type=click.Path(path_type=Path),
    help=f"Your own photos with known places. A calibration needs at least {MIN_RUNS}.",
)
@click.option(
    "--dataset",
    type=click.Choice([*DATASETS]),
    default="folder",
    show_default=True,
    help="Form of --photos. folder: photos with labels.jsonl, with a CSV table, or with positions in their EXIF.",
)
@click.option(
    "-n",
    "--n",
    "n",
    type=click.IntRange(1, MAX_PARALLEL),
    default=8,
    show_default=True,
    help="Attempts (rollouts) per photo.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    help="Time limit in minutes, after which no further photo is started.",
)
@click.option(
    "--max-cost", "max_cost_usd", type=click.FloatRange(0, min_open=True),
    help="Cost in US dollars, after which no further photo is started.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="Use a random sample of this many of your photos.")
@shared_options.concurrency
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of the attempts.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Run file. Default: a file in runs/.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Also write the report as one HTML file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout instead of Markdown.")
@click.option("--no-install", is_flag=True, help="Fit the calibration, but do not install it.")
@config_option
@profile_options
def command(
    args: AppArgs,
    photos: Path | None,
    dataset: str,
    n: int,
    minutes: float,
    max_cost_usd: float | None,
    limit: int | None,
    concurrency: int,
    seed: int,
    out: Path | None,
    html: Path | None,
    as_json: bool,
    no_install: bool,
) -> int:
    """Test a new engine: report its faults and the settings that correct them, and fit its calibration.

    It locates the sample photos of GeoTTS and your labelled photos (--photos). This takes about half an hour. If you
    stop it, the same command continues, and locates again the photos that got no answer. It installs the calibration
    that it fits to your photos for this engine, dialect and tools. From then on, answers say how probable their
    radii are.

    The exit code is 0 if no fault was found, 3 if there are faults, 1 if the engine could not run at all, 2 for wrong
    use, and 130 if you interrupt it.
    """
    if html is not None and not html.parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(html.parent)!r}", param_hint="--html")
    samples = acceptance_photos(dataset, photos, limit=limit, seed=seed)
    if isinstance(args.engine, OpenAIEngine):
        check_endpoint(args.engine)
    ensure_data(args)
    run = AcceptRun(args, samples, n, seed, concurrency, out)
    allowance = Allowance(60.0 * minutes, max_cost_usd)
    _print_cost(args, len(samples))
    try:
        run.locate(allowance)
    except KeyboardInterrupt:
        STDERR.print(f"stopped. To continue, run the same command again: geotts {' '.join(sys.argv[1:])}")
        return EXIT_INTERRUPTED
    records = run.records()
    if allowance.has_no_replies or not any(
        record.run is not None and has_reply_or_overflow(record.run) for record in records
    ):
        return fail(_failure_reason(records), EXIT_FAILED)
    found = _assess_run(run, records, args, dataset, install=not no_install)
    _show_acceptance(found, html, as_json=as_json)
    if found.left and allowance.spent_limit:
        STDERR.print(
            f"the {allowance.spent_limit} is used up, and {found.left} photos are left: run the same command again for "
            "them"
        )
    return EXIT_FAULTS if found.has_faults else 0


def _print_cost(args: AppArgs, photos: int) -> None:
    """Print the maximum cost of the run, if the configuration limits the cost of a request."""
    most = args.limits.max_cost_usd
    if most is not None and not price_is_known(args):
        STDERR.print(NO_PRICE, soft_wrap=True)
    elif most is not None:
        STDERR.print(f"it may cost up to {photos * most:.2f} US dollars (limits.max_cost_usd {most:g} a photo)")


def _failure_reason(records: list[Record]) -> str:
    failures = [record.failure for record in records if record.failure]
    return f"the engine could not be run: {failures[-1] if failures else 'no photo was located'}"


def _assess_run(run: AcceptRun, records: list[Record], args: AppArgs, dataset: str, *, install: bool) -> Acceptance:
    own = [record for record in records if OWN in record.tags]
    origin = f"geotts accept, n = {run.rollouts}, {len(own)} photos, {datetime.now(UTC):%Y-%m-%d}"
    answered = {record.sample for record in own if not record.failure}
    enough = [sample for sample in run.samples if sample.id in answered] if len(answered) >= MIN_RUNS else []
    readings = photo_readings(args, enough)
    fitted = fit_and_install(own, args, make_world(args.data_dir), origin=origin, keep=install, readings=readings)
    dialect = make_dialect(args.dialect, args)
    return assess(
        records,
        args,
        PlaceNames(Countries()),
        fitted,
        dataset=dataset,
        rollouts=run.rollouts,
        left=len(run.samples) - len(records),
        offers_tools=bool(dialect.schemas(local_tools(args).toolbox.schemas())),
        run_file=str(run.file),
    )


def _show_acceptance(found: Acceptance, html: Path | None, *, as_json: bool) -> None:
    if html is not None:
        try:
            html.write_text(acceptance_page(found))
        except OSError as error:
            STDERR.print(f"the report was not written: {error}", soft_wrap=True)
        else:
            STDERR.print(f"report: {html}", soft_wrap=True)
    if as_json:
        click.echo(found.json_bytes().decode())
    else:
        _STDOUT.print(acceptance_markdown(found), soft_wrap=True)
