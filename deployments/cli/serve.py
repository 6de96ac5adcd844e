"""`geotts serve`."""

from __future__ import annotations

import signal
import threading

import click

from deployments.cli.console import STDERR, config_option, profile_options, progress_bar
from deployments.ray_env import prepare_to_join
from tts.config import AppArgs, checked
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
    if address is not None:
        prepare_to_join()
    from deployments.cluster import served  # noqa: PLC0415  Ray reads its environment when it is imported

    store = DataStore(args.data_dir)
    if not store.ready:
        STDERR.print("building data, once:")
        with progress_bar() as progress:
            store.ensure(progress)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    STDERR.print("starting …")
    with served(args, ray_address=address, log_to_driver=verbose) as service:
        STDERR.print(f"[bold green]ready[/] at {service.url} after {service.ready_s:.0f} s (Ctrl-C stops)")
        STDERR.print("  open it in a browser, or:")
        STDERR.print(
            f"  curl -N -F image=@photo.jpg -F n_parallel=4 -H 'Accept: text/event-stream' {service.url}/locate",
            soft_wrap=True,
        )
        stop.wait()
        STDERR.print("stopping …")
