"""`geotts serve`."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable
from types import FrameType

import click

from deployments.cli.console import STDERR, config_option, profile_options, progress_bar
from deployments.profile_doctor import endpoint_finding, vllm_finding
from deployments.ray_env import prepare_to_join, why_not_bound
from tts.config import AppArgs, OpenAIEngine, VllmEngine, checked
from tts.errors import ConfigError
from tts.geodata.store import DataStore


@click.command()
@config_option
@profile_options
@click.option("--host", help="Address to listen on (default: gateway.host of the configuration, 127.0.0.1).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on (default: gateway.port, 8000).")
@click.option("--address", metavar="ADDRESS", help="Join a running Ray cluster, e.g. auto; a private one otherwise.")
@click.option("--verbose", is_flag=True, help="Show the logs of the replicas.")
def command(args: AppArgs, host: str | None, port: int | None, address: str | None, verbose: bool) -> None:
    """Run the service until Ctrl-C. Builds missing data first."""
    changes = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    args = checked(args, {"gateway": {**args.gateway.model_dump(), **changes}})
    if not verbose:
        logging.getLogger("tts.errors").setLevel(logging.CRITICAL)  # their last line is printed, stacks with --verbose
    if address is not None:
        prepare_to_join()
    else:
        _refuse_what_cannot_start(args)
    _warn_of_a_silent_endpoint(args)
    from deployments.cluster import served  # noqa: PLC0415  Ray reads its environment when it is imported

    store = DataStore(args.data_dir)
    if not store.ready:
        STDERR.print("building data, once:")
        with progress_bar() as progress:
            store.ensure(progress)
    STDERR.print("starting …")
    _on_signals(_give_up)
    stop = threading.Event()
    with served(args, ray_address=address, log_to_driver=verbose) as service:
        _on_signals(lambda *_: stop.set())
        STDERR.print(f"[bold green]ready[/] at {service.url} after {service.ready_s:.0f} s (Ctrl-C stops)")
        STDERR.print("  open it in a browser, or:")
        STDERR.print(
            f"  curl -N -F image=@photo.jpg -F n_parallel=4 -H 'Accept: text/event-stream' {service.url}/locate",
            soft_wrap=True,
        )
        stop.wait()
        STDERR.print("stopping …")


def _on_signals(handler: Callable[[int, FrameType | None], object]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


def _give_up(*_: object) -> None:
    """Before it is ready: leave the start wherever it is, and take down what there is. Asked twice, at once."""
    _on_signals(signal.default_int_handler)
    STDERR.print("stopping …")
    raise KeyboardInterrupt


def _refuse_what_cannot_start(args: AppArgs) -> None:
    """What Ray would find out after minutes, and tell as a stack."""
    host, port = args.gateway.host, args.gateway.port
    if reason := why_not_bound(host, port):
        raise ConfigError(f"port {port} of {host} is taken ({reason}): stop what uses it, or take another with --port")
    if isinstance(args.engine, VllmEngine) and (found := vllm_finding(args.engine)).state == "problem":
        raise ConfigError(f"{found.detail}: {found.mend}")


def _warn_of_a_silent_endpoint(args: AppArgs) -> None:
    """It may come up later, so the service starts all the same."""
    if isinstance(args.engine, OpenAIEngine) and (found := endpoint_finding(args.engine)).state == "problem":
        STDERR.print(f"[yellow]![/] endpoint: {found.detail}; {found.cost} until you {found.mend}", soft_wrap=True)
