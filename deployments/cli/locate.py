"""`geotts locate`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import click
import orjson

from deployments.cli import shared_options
from deployments.cli.built_data import ensure_data
from deployments.cli.check_view import check_panel
from deployments.cli.console import EXIT_FAILED, STDERR, config_option, profile_in_use, profile_options
from deployments.cli.continued_request import ContinuedRequest, continued_request_of
from deployments.cli.html_report import HtmlReports
from deployments.cli.inputs import AreaType, BudgetType, Input, PhotoGroup, collect
from deployments.cli.small_map import small_map
from deployments.cli.text_console import TextConsole, styled_text
from deployments.cli.views import LiveView, PlainView, SmallMap, answer_panel, clean
from deployments.cli.warning_lines import warn_of
from deployments.config import AppArgs
from deployments.gateway.claimed_places import look_up_claimed_places, with_ruled_out_places
from deployments.gateway.option_checks import check_questions, check_walk
from deployments.wiring.answer_outlines import answer_outlines
from deployments.wiring.local import local_ports
from deployments.wiring.tool_findings import unused_keys
from tts.aio import closing
from tts.api.client import Client
from tts.api.schema import response_of
from tts.domain.claim import ClaimedPlace
from tts.domain.events import Event, Failed
from tts.domain.exif_claims import file_claim
from tts.domain.geojson import answer_geojson
from tts.domain.photo_cleaning import load_photo
from tts.domain.plan import Depth
from tts.domain.request import MAX_PARALLEL, MAX_PHOTOS, MAX_QUESTIONS, LocateOptions, LocateRequest, new_request_id
from tts.domain.trajectory import Run, fold
from tts.errors import FatalError, GeoTTSError, RequestError, boundary
from tts.geodata.area_from_text import WAYS
from tts.geodata.store import DataStore
from tts.pipeline import solve
from tts.ports.closable import close_each
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Attachment
from tts.report.plain_words import plain

Photos = bytes | list[bytes]
Item = Input | PhotoGroup | ContinuedRequest
Source = Callable[[Photos, LocateOptions], AsyncIterator[Event]]
_OPTION_NAMES = tuple(LocateOptions.model_fields.keys() - {"not_there"})
_STDOUT = TextConsole()
_DETAIL_CHARS = 2000
_HOW_TO_GIVE_A_KEY = "give its key with --api-key, or better in GEOTTS_API_KEY"


@click.command()
@click.argument("photos", nargs=-1, metavar="PHOTO…")
@click.option(
    "-n",
    "--n-parallel",
    type=click.IntRange(1, MAX_PARALLEL),
    help="Attempts (rollouts) in parallel (default: 4, or what the profile says).",
)
@shared_options.depth
@click.option(
    "--budget",
    type=BudgetType(),
    help="Budget of a photo, in place of -n and --depth: 30s, 20k-tokens, 0.05usd, or several with commas.",
)
@shared_options.as_json
@shared_options.as_geojson
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a report with map and evidence as one HTML file. Several photos: one numbered file for each.",
)
@shared_options.local
@shared_options.url
@shared_options.api_key
@click.option("--within", type=AreaType(), help=f"Area in which the answer must lie: {WAYS}")
@click.option(
    "--within-km",
    type=click.FloatRange(0, 20000, min_open=True),
    help="The PHOTOs show different places, at most this many km apart. One request gives an answer for each photo.",
)
@click.option(
    "--not-there",
    multiple=True,
    help=f"Where the photo was not taken: the name of a place, or {WAYS}. Repeatable. With --continue, `answer` "
    "means the earlier answer.",
)
@click.option(
    "--continue",
    "continues",
    metavar="ID",
    help="Continue the request with this ID, which the service has kept. Add what you know now: --not-there, --fact, "
    "--within, or a further PHOTO of the place.",
)
@click.option("--fact", help="With --continue: a new fact, in words.")
@shared_options.deadline
@click.option(
    "--radius",
    "target_radius_km",
    type=click.FloatRange(0.001, 20000),
    default=25.0,
    show_default=True,
    help="Target radius: the precision that you need, in km.",
)
@click.option(
    "--max-cost",
    "max_cost_usd",
    type=click.FloatRange(0, 1000, min_open=True),
    help="US dollars that the models may cost for a photo.",
)
@click.option(
    "--stop",
    help="Stop policy, by which attempts that agree stop the others: none, quorum[:k], first:m, beta[:p], worth[:p], "
    "loss[:points] (docs/routing.md).",
)
@shared_options.hide_photo_hosts
@click.option(
    "--allow-region-search",
    is_flag=True,
    help="Allow regions of the photo, up to the whole photo, to be sent to web services that search by picture.",
)
@click.option(
    "--verifier-questions",
    type=click.IntRange(0, MAX_QUESTIONS),
    help="Tool calls that the comparison (verifier) itself may make to decide between the leading places.",
)
@shared_options.diverse_first_calls
@click.option("--hint", help="What you already know about the place, in words.")
@shared_options.seed
@click.option(
    "--exif",
    "report_exif",
    is_flag=True,
    help="Also show the position that the file claims (EXIF). The answer never uses it.",
)
@click.option(
    "--claims", is_flag=True, help="Compare what the file claims (EXIF, XMP) with the answer. The answer never uses it."
)
@shared_options.include
@config_option
@profile_options
def command(
    photos: tuple[str, ...], args: AppArgs, form: str | None, local: bool, url: str | None, api_key: str | None,
    html: Path | None, report_exif: bool, not_there: tuple[str, ...], continues: str | None, fact: str | None,
    **fields: Any,
) -> int:  # fmt: skip
    """Find out where PHOTOs were taken.

    PHOTO is a file, a folder, a glob, or - for stdin. The exit code is 0 if every photo got an answer, 1 if some
    failed, and 130 if you interrupt it. "I do not know" is an answer, too.
    """
    remote = None if local else url
    if continues is not None:
        return _continue_request(continues, photos, not_there, fact, form, remote, api_key, args)
    if fact is not None:
        raise click.BadParameter("needs --continue; for a new request, use --hint", param_hint="--fact")
    if fields["budget"] is not None and (fields["n_parallel"] is not None or fields["depth"] != Depth.AUTO):
        raise click.BadParameter("sets -n and --depth itself: give either --budget or these", param_hint="--budget")
    inputs = collect(photos)
    given = {name: value for name, value in fields.items() if value is not None}
    options = LocateOptions(**given, exif="report" if report_exif else "ignore", not_there=not_there)
    if html is not None and not html.parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(html.parent)!r}", param_hint="--html")
    if remote is None or html is not None:
        ensure_data(args)
    if remote is None and profile_in_use() is not None:
        warn_of(unused_keys(args, os.environ))
    reports = HtmlReports(html, len(inputs), args) if html is not None else None
    asked = inputs if options.within_km is None else [_photo_group(inputs)]
    return asyncio.run(locate_inputs(asked, options, args, form, remote, api_key, reports))


def _photo_group(inputs: list[Input]) -> PhotoGroup:
    if not 2 <= len(inputs) <= MAX_PHOTOS:
        raise click.BadParameter(f"needs 2 to {MAX_PHOTOS} photos, not {len(inputs)}", param_hint="--within-km")
    return PhotoGroup(tuple(inputs))


def _continue_request(
    request_id: str, photos: tuple[str, ...], not_there: tuple[str, ...], fact: str | None, form: str | None,
    url: str | None, api_key: str | None, args: AppArgs,
) -> int:  # fmt: skip
    if url is None:
        raise click.BadParameter("a service keeps the earlier request: name the service with --url", param_hint="--url")
    context = click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    given = {name: context.params[name] for name in _OPTION_NAMES if context.get_parameter_source(name) is source}
    further = collect(photos) if photos else []
    addition = continued_request_of(request_id, not_there, fact, further, given)
    options = LocateOptions(include=addition.options.include or "summary")
    return asyncio.run(locate_inputs([addition], options, args, form, url, api_key, None))


async def locate_inputs(
    inputs: Sequence[Item], options: LocateOptions, args: AppArgs, form: str | None, url: str | None,
    api_key: str | None, reports: HtmlReports | None,
) -> int:  # fmt: skip
    """Locate each photo, here or at `url`, and print it in a form; the exit code. With `CheckOptions`, check a claim.

    Raises RequestError when a claim names no place.
    """
    claimed = await look_up_claimed_places(options, args.data_dir) if url is None else ()
    options = await with_ruled_out_places(options, args.data_dir) if url is None else options
    failed = 0
    async with AsyncExitStack() as stack:
        if url is not None:
            client = await stack.enter_async_context(Client(url, api_key=api_key))
            source: Source = client.stream
            if isinstance(inputs[0], ContinuedRequest):
                source = partial(inputs[0].events, client)
            picture: SmallMap | None = None
        else:
            ports = local_ports(args)
            stack.push_async_callback(close_each, ports.rollouts, ports.verifier)
            source = partial(_local_events, ports, args, claimed)
            picture = partial(map_of, args)
        for item in inputs:
            raw, run = await follow(item, options, source, quiet=form is not None)
            failed += run.answer is None
            _print_answer(item.label, run, options, form, picture, args.data_dir)
            if url is not None:
                _print_request_id(run, form)
            if reports is not None and run.answer is not None:
                failed += not await _write_report(reports, item, raw, run)
    return EXIT_FAILED if failed else 0


async def _write_report(reports: HtmlReports, item: Item, photos: Photos, run: Run) -> bool:
    """Whether the report with the first photo was written. The result is printed in both cases."""
    raw = photos if isinstance(photos, bytes) else photos[0]
    try:
        path = await asyncio.to_thread(reports.write, item.label, raw, run)
    except OSError as error:
        STDERR.print(f"the report was not written: {error}", markup=False, soft_wrap=True)
        return False
    STDERR.print(f"report: {path}", markup=False, soft_wrap=True)
    return True


async def follow(item: Item, options: LocateOptions, source: Source, *, quiet: bool) -> tuple[Photos, Run]:
    """Follow the request of one photo on the screen. If it fails, print the reason, which is also in its `failure`."""
    view: LiveView | PlainView = LiveView(STDERR, item.label) if STDERR.is_terminal else PlainView(STDERR, item.label)
    raw: Photos = b""
    run = Run()
    try:
        with boundary(FatalError, "the photo"), _mark_unreadable():
            raw = item.read()
            with view:
                async with closing(source(raw, options)) as events:
                    async for event in events:
                        run = fold([event], run)
                        if not quiet or STDERR.is_terminal:
                            view.show(event)
    except GeoTTSError as error:
        detail = f"{error.detail} ({_HOW_TO_GIVE_A_KEY})" if error.status == HTTPStatus.UNAUTHORIZED else error.detail
        failed = Failed(seq=run.last_seq + 1, code=error.code, status=error.status, detail=detail)
        run = fold([failed], run)
    if run.failure is not None:
        STDERR.print(styled_text((f"{clean(item.label)}:", "bold red"), " "), end="")
        STDERR.print(clean(plain(run.failure.detail), _DETAIL_CHARS), markup=False, soft_wrap=True)
    return raw, run


class _UnreadablePhoto(RequestError):
    code = "unreadable"
    status = 400


@contextmanager
def _mark_unreadable() -> Iterator[None]:
    """Around a photo: one that cannot be read does not keep the next from its answer."""
    try:
        yield
    except OSError as error:
        raise _UnreadablePhoto(str(error)) from error


async def _local_events(
    ports: Ports, args: AppArgs, claimed: tuple[ClaimedPlace, ...], raw: Photos, options: LocateOptions
) -> AsyncIterator[Event]:
    every = [raw] if isinstance(raw, bytes) else raw
    check_walk(options, len(every))
    check_questions(options, args.verifier)
    photos = tuple([await asyncio.to_thread(load_photo, one, args.gateway.photo) for one in every])
    claims = tuple(file_claim(one) for one in every) if options.exif == "report" or options.claims else ()
    options = args.request_defaults.fill(options)
    request = LocateRequest(new_request_id(), photos, options, file_claims=claims, claimed=claimed)
    async with closing(solve(request, ports, deadline_s=options.wanted_s or args.gateway.default_deadline_s)) as items:
        async for item in items:
            if not isinstance(item, Attachment):
                yield item


def _print_request_id(run: Run, form: str | None) -> None:
    """The id under which the service keeps the request, for `--continue`, `geotts export` and `geotts bundle`."""
    if form is None and run.accepted is not None and run.answer is not None:
        _STDOUT.print(styled_text(("request ", "dim"), run.accepted.request_id))


def map_of(args: AppArgs, point: Any, span_km: float) -> list[str]:
    """Lines of text that show the towns around `point`, about `span_km` from top to bottom."""
    return small_map(DataStore(args.data_dir).gazetteer(), point, span_km=span_km)


def _print_answer(
    label: str, run: Run, options: LocateOptions, form: str | None, picture: SmallMap | None,
    data_dir: str | None,
) -> None:  # fmt: skip
    if run.answer is None or run.accepted is None:
        if form == "json":
            problem = run.failure.jsonable() if run.failure else {"code": "failed"}
            click.echo(orjson.dumps({"photo": label, "error": problem}))
        return
    if form == "json":
        reply = response_of(run.accepted.request_id, run.answer, run, options.include)
        click.echo(orjson.dumps({"photo": label, **reply.jsonable()}))
    elif form == "geojson":
        click.echo(orjson.dumps({"photo": label, **answer_geojson(run.answer, answer_outlines(run.answer, data_dir))}))
    else:
        if run.answer.check is not None:
            _STDOUT.print(check_panel(run.answer.check))
        _STDOUT.print(answer_panel(run.answer, picture if _STDOUT.is_terminal else None))
