"""`geotts demo`: from an installed project to an answer with its evidence, in one command."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import click

from deployments.cli.console import STDERR, config_option, progress_bar
from deployments.cli.inputs import Input
from deployments.cli.locate import follow, map_of
from deployments.cli.text_console import TextConsole, styled_text
from deployments.cli.views import answer_panel
from deployments.config import AppArgs
from deployments.doctor.installation import check_installation
from deployments.serve.ray_env import is_free
from tts.api.client import Client
from tts.domain.request import LocateOptions
from tts.geodata.store import DataStore
from tts.package_files import SAMPLES

_DEMO_PHOTOS = ("town-sign-latin.jpg", "station-chinese.jpg")  # read without any system package
_STDOUT = TextConsole()


@click.command()
@click.option("--photo", "photos", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="A photo of your own instead of the two samples. Repeatable.")  # fmt: skip
@click.option("-n", "--n-parallel", type=click.IntRange(1, 32), default=4, show_default=True,
              help="Attempts (rollouts) per photo.")  # fmt: skip
@click.option("--keep", is_flag=True, help="Leave the service running until Ctrl-C.")
@config_option
def command(args: AppArgs, photos: tuple[Path, ...], n_parallel: int, keep: bool) -> int:
    """Build the data, start the service, locate sample photos over HTTP, show the answers, and stop.

    This takes a minute or two the first time. Nothing leaves this machine.
    """
    chosen = photos or tuple(SAMPLES / name for name in _DEMO_PHOTOS)
    started = time.monotonic()
    _print_step("1 of 4", "what is here")
    _print_missing(args)
    _print_step("2 of 4", "the embedded data")
    _build_data(args)
    _print_step("3 of 4", "the service")
    args = args.model_copy(update={"gateway": args.gateway.model_copy(update={"port": _free_port(args)})})
    from deployments.launch.cluster import serve_configuration  # noqa: PLC0415  Ray reads its environment when it is imported

    with serve_configuration(args) as service:
        STDERR.print(f"  ready at {service.url} after {service.ready_s:.0f} s")
        _print_step("4 of 4", f"{len(chosen)} sample photos, {n_parallel} attempts each")
        failed = asyncio.run(_locate(service.url, chosen, n_parallel, args))
        STDERR.print(f"\ndone in {time.monotonic() - started:.0f} s. Try next:", highlight=False)
        _try_next(service.url, chosen[0], running=keep)
        if keep:
            STDERR.print(styled_text((f"The service keeps running at {service.url}", "bold"), " (Ctrl-C stops it)"))
            _wait_for_interrupt()
        STDERR.print("stopping the service …")
    return failed


def _print_step(step: str, what: str) -> None:
    STDERR.print(styled_text("\n", (str(step), "bold"), f"  {what}"))


def _print_missing(args: AppArgs) -> None:
    """Print what is missing and what does not work without it; the demo continues."""
    findings = [
        finding for finding in check_installation(args) if finding.state == "missing" and "data" not in finding.mend
    ]
    for finding in findings:
        STDERR.print(styled_text((f"  ! {finding.what}", "yellow"), f": {finding.detail} not found"), soft_wrap=True)
        STDERR.print(f"    means: {finding.cost}\n    fix:   {finding.mend}", soft_wrap=True, markup=False)
    if not findings:
        STDERR.print("  nothing that is needed is missing (`geotts doctor` shows more)")


def _build_data(args: AppArgs) -> None:
    store = DataStore(args.data_dir)
    if not store.ready:
        with progress_bar() as progress:
            store.ensure(progress)
    size = sum(status.size_bytes for status in store.status(deep=False))
    STDERR.print(f"  {size / 1e6:.0f} MB in {store.root}", soft_wrap=True)


def _free_port(args: AppArgs) -> int:
    """The configured port, or any free one when it is taken."""
    for port in (args.gateway.port, 8800, 8900, 9100):
        if is_free(args.gateway.host, port):
            return port
    with socket.socket() as probe:
        probe.bind((args.gateway.host, 0))
        return int(probe.getsockname()[1])


async def _locate(url: str, photos: tuple[Path, ...], n_parallel: int, args: AppArgs) -> int:
    """1 when a photo failed; an honest "I do not know" is no failure."""
    failed = 0
    async with Client(url) as client:
        for path in photos:
            options = LocateOptions(n_parallel=n_parallel, depth="deep", seed=1)
            _, run = await follow(Input(_path_text(path), path), options, client.stream, quiet=False)
            if run.answer is None:
                failed = 1
                if run.failure is None:  # which would have been told
                    STDERR.print(styled_text((_path_text(path), "bold red"), ": no answer came"))
                continue
            _STDOUT.print(answer_panel(run.answer, lambda point, span_km: map_of(args, point, span_km)))
    return failed


def _path_text(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _try_next(url: str, photo: Path, *, running: bool) -> None:
    here = Path(click.get_current_context().command_path.split()[0]).name
    binary = Path(".venv/bin") / here if Path(".venv/bin", here).exists() else Path(here)
    lines = [
        f"{binary} locate {_path_text(photo)} --html report.html",
        f"{binary} locate YOUR-PHOTO.jpg",
        f"{binary} doctor",
        f"{binary} serve",
    ]
    ask = f"curl -N -F image=@{_path_text(photo)} -H 'Accept: text/event-stream' {url}/locate"
    lines.append(ask if running else f"{ask}    # while it serves")
    for line in lines:
        STDERR.print(f"  {line}", markup=False, soft_wrap=True)


def _wait_for_interrupt() -> None:
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
