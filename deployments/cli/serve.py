"""`geotts serve`."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

import click

from deployments.cli.built_data import ensure_data
from deployments.cli.console import (
    EXIT_FAILED,
    STDERR,
    config_option,
    fail,
    profile_in_use,
    profile_options,
)
from deployments.cli.silent_endpoints import warn_of_silent_endpoints
from deployments.cli.text_console import styled_text
from deployments.cli.warning_lines import warn, warn_of
from deployments.config import AppArgs, replace_nodes
from deployments.doctor.profile import vllm_finding
from deployments.serve.ray_env import prepare_to_join, wait_until_free
from deployments.sizing.gpu_plan import GpuPlan, Gpus
from deployments.sizing.local_gpus import found_gpus
from deployments.sizing.serving_plan import plan_lines, reserves_nothing, with_gpus
from deployments.wiring.parts import draws_note, make_dialect, make_gallery
from deployments.wiring.tool_findings import providers_without_keys, region_search_findings, tools_note, unused_keys
from tts.config import VllmEngine
from tts.errors import ConfigError

if TYPE_CHECKING:
    from deployments.launch.cluster import ServedApplication

_PORT_PATIENCE_S = 5.0  # processes of a service that was killed take seconds to notice
_WATCH_PERIOD_S = 1.0


@click.command()
@config_option
@profile_options
@click.option("--host", help="Address to listen on (default: gateway.host of the configuration, 127.0.0.1).")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on (default: gateway.port, 8000).")
@click.option("--address", metavar="ADDRESS", help="Ray cluster to join, such as auto. Default: a private one.")
@click.option("--gpus", metavar="COUNT[xGB]", help="GPUs for the model, such as 8, or 8x80 for 8 with 80 GB each.")
@click.option("--fp8", is_flag=True, help="With --gpus: quantise the weights to FP8 when they are loaded.")
@click.option("--plan", "plan_only", is_flag=True, help="Print the plan of the service, and do not start it.")
@click.option("--verbose", is_flag=True, help="Show the logs of the replicas.")
def command(
    args: AppArgs, host: str | None, port: int | None, address: str | None, gpus: str | None, fp8: bool,
    plan_only: bool, verbose: bool,
) -> None:  # fmt: skip
    """Run the service until Ctrl-C. Builds missing data first."""
    args, plan = _configure_gpus(args, gpus, fp8=fp8, joins=address is not None)
    for line in plan_lines(args, plan):
        STDERR.print(line, soft_wrap=True)
    _warn_of_tools(args)
    if plan_only:
        return
    changes = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    args = replace_nodes(args, {"gateway": {**args.gateway.model_dump(), **changes}})
    if not verbose:
        logging.getLogger("tts.errors").setLevel(logging.CRITICAL)  # their last line is printed, stacks with --verbose
    if address is not None:
        prepare_to_join()
    else:
        _refuse_what_cannot_start(args)
    warn_of_silent_endpoints(args)
    from deployments.launch.cluster import serve_configuration  # noqa: PLC0415  Ray reads its environment when it is imported

    ensure_data(args)
    STDERR.print("starting …")
    stop = threading.Event()
    _handle_signals(partial(_abort_start, stop))
    sys.unraisablehook = _report_all_but_stops
    try:
        _run_until_stopped(
            serve_configuration(args, ray_address=address, log_to_driver=verbose, stopped=stop.is_set),
            stop,
            with_keys=args.gateway.access.mode == "keys",
        )
    except KeyboardInterrupt:
        return  # it was asked to stop, and has


def _run_until_stopped(
    start: AbstractContextManager[ServedApplication], stop: threading.Event, *, with_keys: bool
) -> None:
    """Returns when a signal came and the service is down. Ends this process with 1 when the cluster under it dies."""
    from deployments.serve.cluster_watch import ClusterLost  # noqa: PLC0415  it imports Ray

    try:
        with start as service:
            _handle_signals(lambda *_: stop.set())
            _print_ready(service, with_keys=with_keys)
            while not stop.wait(_WATCH_PERIOD_S):
                service.watch.check()
            STDERR.print("stopping …")
    except ClusterLost as error:
        fail(error.detail, EXIT_FAILED)
        os._exit(EXIT_FAILED)  # Ray's threads are waiting for a cluster that is gone, and would abort the process


def _print_ready(service: ServedApplication, *, with_keys: bool) -> None:
    STDERR.print(
        styled_text(("ready", "bold green"), f" at {service.url} after {service.ready_s:.0f} s (Ctrl-C stops)")
    )
    STDERR.print("  open it in a browser, or:")
    key = '-H "Authorization: Bearer $GEOTTS_API_KEY" ' if with_keys else ""
    STDERR.print(
        f"  curl -N {key}-F image=@photo.jpg -F n_parallel=4 -H 'Accept: text/event-stream' {service.url}/locate",
        soft_wrap=True,
    )


def _configure_gpus(args: AppArgs, gpus: str | None, *, fp8: bool, joins: bool) -> tuple[AppArgs, GpuPlan | None]:
    """The configuration for the GPUs of `--gpus`, else for those of this machine, and its plan; else as it is."""
    used = profile_in_use()
    profile = used[1] if used else None
    found = found_gpus() if gpus is not None or (reserves_nothing(args) and not joins) else None
    if gpus is not None:
        return with_gpus(args, Gpus.parse(gpus, found.memory_gb if found else None), profile=profile, fp8=fp8)
    if reserves_nothing(args) and found is not None:
        STDERR.print("GPUs: those of this machine; choose others with --gpus", soft_wrap=True)
        return with_gpus(args, found, profile=profile, fp8=fp8)
    if fp8:
        raise click.UsageError("--fp8 needs --gpus")
    if reserves_nothing(args):
        none = "no GPU of the cluster is" if joins else "no GPU was found here, so none is"
        warn(f"{none} reserved for the model: choose GPUs with --gpus, such as --gpus 8x80")
    return args, None


def _warn_of_tools(args: AppArgs) -> None:
    """Say once that tools are not what they seem."""
    for note in (*tools_note(args, make_dialect(args.dialect, args)), *draws_note(args)):
        warn(note)
    warn_of([*providers_without_keys(args, os.environ), *unused_keys(args, os.environ)])
    warn_of(found for found in region_search_findings(args) if found.state != "ok")


def _handle_signals(handler: Callable[[int, FrameType | None], object]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


def _abort_start(stop: threading.Event, *_: object) -> None:
    """Before it is ready: leave the start wherever it is, and take down what there is. Asked twice, at once."""
    stop.set()
    _handle_signals(signal.default_int_handler)
    STDERR.print("stopping …")
    raise KeyboardInterrupt


def _report_all_but_stops(dropped: sys.UnraisableHookArgs) -> None:
    """Python prints what it drops, such as an exception in a fork. A stop is not lost there:
    `serve_configuration` asks for it."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)


def _refuse_what_cannot_start(args: AppArgs) -> None:
    """Refuse a configuration that Ray would refuse only after minutes, with a stack trace."""
    host, port = args.gateway.host, args.gateway.port
    if reason := wait_until_free(host, port, _PORT_PATIENCE_S):
        raise ConfigError(
            f"port {port} of {host} is taken ({reason}): stop the program that uses it, or choose another with --port"
        )
    make_gallery(args)
    if keyless := providers_without_keys(args, os.environ):
        raise ConfigError("\n".join(found.detail for found in keyless))
    if isinstance(args.engine, VllmEngine) and (found := vllm_finding(args.engine)).state == "problem":
        raise ConfigError(f"{found.detail}: {found.mend}")
