"""Start GeoTTS on Ray: a local one-node cluster of its own, or one that is already running.

Import this module before `ray`: it prepares the environment that Serve reads at import time.
"""

from __future__ import annotations

import gc
import logging
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from deployments.ray_env import is_free, prepare_environment, prepare_ports

prepare_environment()

import ray  # noqa: E402  after the environment is set
from ray import serve  # noqa: E402

from deployments.app import build, build_tools  # noqa: E402
from tts.config import AppArgs, GatewayConfig  # noqa: E402
from tts.errors import DataError, FatalError, boundary  # noqa: E402
from tts.geodata.store import DataStore  # noqa: E402

_OBJECT_STORE_BYTES = 200 * 2**20
_log = logging.getLogger("geotts.ray")
APP_NAME = "geotts"


@dataclass(frozen=True, slots=True)
class Served:
    """A running application."""

    url: str
    ready_s: float


@contextmanager
def served(args: AppArgs, *, ray_address: str | None = None, log_to_driver: bool = False) -> Iterator[Served]:
    """Run the application until the block ends. Without `ray_address` a private cluster is started on loopback.

    Raises:
        DataError: when the gazetteer has not been built.
        FatalError: when the application does not come up.
    """
    if not DataStore(args.data_dir).ready:
        raise DataError("the embedded data is missing or outdated: run `geotts data build`")
    with serving(lambda: build(args), args.gateway, ray_address=ray_address, log_to_driver=log_to_driver) as running:
        yield running


@contextmanager
def serving(
    make: Callable[[], serve.Application],
    gateway: GatewayConfig,
    *,
    ray_address: str | None = None,
    log_to_driver: bool = False,
) -> Iterator[Served]:
    """Run any application where the gateway's would be. Raises FatalError when it does not come up."""
    if ray_address is None:
        prepare_ports(gateway.host, gateway.port)
    started = time.perf_counter()
    _start_patiently(ray_address, log_to_driver=log_to_driver)
    try:
        with boundary(FatalError, "starting the service (is there memory and processor time to spare?)"):
            serve.start(http_options={"host": gateway.host, "port": _proxy_port(gateway)})
            try:
                serve.run(make(), name=APP_NAME, route_prefix="/")
            except RuntimeError as error:
                raise FatalError(f"the application did not come up: {_what_failed() or error}") from error
        yield Served(url=f"http://{gateway.host}:{gateway.port}", ready_s=round(time.perf_counter() - started, 2))
    finally:
        try:
            with boundary(FatalError, "stopping the service"):
                serve.shutdown()  # type: ignore[no-untyped-call]
        finally:
            ray.shutdown()


@contextmanager
def served_tools(args: AppArgs) -> Iterator[Any]:
    """Only the Tools deployment, on a private cluster: its handle."""
    _start_patiently(None, log_to_driver=False)
    try:
        serve.start(proxy_location="Disabled")
        yield serve.run(build_tools(args), name="tools", route_prefix=None)
    finally:
        try:
            serve.shutdown()  # type: ignore[no-untyped-call]
        finally:
            ray.shutdown()


def _start_patiently(address: str | None, *, log_to_driver: bool) -> None:
    """Ray gives its node 30 s to start and has no setting for it. On a busy machine the second try is the quicker."""
    what = "starting Ray (is there memory and processor time to spare?)"
    try:
        with boundary(FatalError, what):
            _start_ray(address, log_to_driver=log_to_driver)
        return
    except FatalError as error:
        if address is not None:
            raise
        _forget(error)
    with boundary(FatalError, what):
        _start_ray(address, log_to_driver=log_to_driver)


def _forget(error: FatalError) -> None:
    """Let go of the processes of a start that failed: Ray ends them, but neither waits for them nor lets go of them
    before the traceback does. Python buries what is let go of when it starts its next process."""
    ray.shutdown()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        for failure in (error, error.__cause__):
            traceback.clear_frames(failure.__traceback__ if failure is not None else None)
        gc.collect()


def _start_ray(address: str | None, *, log_to_driver: bool) -> None:
    for name in ("ray", "ray.serve", "ray._private.authentication"):
        logging.getLogger(name).setLevel(logging.ERROR)
    if not log_to_driver:
        _quiet_raylet()
    if address is not None:
        ray.init(address, log_to_driver=log_to_driver, namespace="serve")
        return
    ray.init(
        "local",
        num_cpus=max(2, os.cpu_count() or 2),
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE_BYTES,
        log_to_driver=log_to_driver,
        logging_level=logging.WARNING,
    )


def _quiet_raylet() -> None:
    """Log what the raylet reports (a worker that ended, at every shutdown the controller) instead of printing it.

    Ray prints these reports to stdout even with `log_to_driver=False`, and has no setting for it.
    """

    def note(data: dict[str, Any], ignore_prefix: bool = False) -> None:
        for line in data.get("lines", ()):
            _log.debug("%s", line)

    ray._private.worker.print_to_stdstream = note


def _what_failed() -> str:
    """What the deployments that did not come up ended with: the last line of each stack names the error."""
    application = serve.status().applications.get(APP_NAME)
    deployments = application.deployments if application is not None else {}
    stacks = {
        name: [line.strip() for line in found.message.splitlines() if line.strip()]
        for name, found in deployments.items()
        if found.status in ("UNHEALTHY", "DEPLOY_FAILED")
    }
    return "; ".join(f"{name}: {lines[-1]}" for name, lines in stacks.items() if lines)


def _proxy_port(gateway: GatewayConfig) -> int:
    """The gateway itself takes the public port; Serve insists on a proxy beside it: on the next port that is free."""
    wanted = range(gateway.port + 1, min(gateway.port + 20, 65536))
    return next((port for port in wanted if is_free(gateway.host, port)), 0)
