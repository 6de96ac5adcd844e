"""Runs GeoTTS on Ray until a block ends: on a private node of its own, or on a cluster that is already running.

Import this module before `ray`: it prepares the environment that Serve reads at import time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from deployments.serve.ray_env import is_free, prepare_environment, prepare_ports

prepare_environment()

from ray import serve  # noqa: E402  after the environment is set

from deployments.app import build, build_tools  # noqa: E402
from deployments.config import AppArgs, GatewayConfig  # noqa: E402
from deployments.launch.shared_cluster import SharedClusterServe, reachable_from_here  # noqa: E402
from deployments.serve.cluster_watch import ClusterLost, ClusterWatch  # noqa: E402
from deployments.serve.ray_start import abandon_ray, start_ray, stop_ray  # noqa: E402
from tts.errors import DataError, FatalError, boundary  # noqa: E402
from tts.geodata.store import DataStore  # noqa: E402

APP_NAME = "geotts"


@dataclass(frozen=True, slots=True)
class ServedApplication:
    """A running application. `watch.check()` raises ClusterLost when what it runs on has died."""

    url: str
    ready_s: float
    watch: ClusterWatch


def serve_configuration(
    args: AppArgs,
    *,
    ray_address: str | None = None,
    log_to_driver: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> AbstractContextManager[ServedApplication]:
    """Run the application until the block ends. Without `ray_address` a private cluster is started on loopback.

    `stopped` is asked while it starts: a KeyboardInterrupt may come where Ray or Python drops it.

    Raises:
        DataError: when the gazetteer has not been built.
        FatalError: when the application does not come up.
    """
    if not DataStore(args.data_dir).ready:
        raise DataError("the embedded data is missing or outdated: run `geotts data build`")
    longest_s = max(getattr(args.deployments, name).drain_s for name in type(args.deployments).model_fields)
    return serve_application(
        lambda: build(args if ray_address is None else reachable_from_here(args)),
        args.gateway,
        ray_address=ray_address,
        log_to_driver=log_to_driver,
        drain_s=longest_s,
        stopped=stopped,
    )


@contextmanager
def serve_application(
    make: Callable[[], serve.Application],
    gateway: GatewayConfig,
    *,
    ray_address: str | None = None,
    log_to_driver: bool = False,
    drain_s: float = 20.0,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[ServedApplication]:
    """Run any application where the gateway's would be, and drain it for `drain_s` at most when the block ends.

    Raises:
        FatalError: it does not come up, or nobody can reach it.
        ClusterLost: raised in the block, and then nothing is left to be stopped.
    """
    if ray_address is None:
        prepare_ports(gateway.host, gateway.port)
    started = time.perf_counter()
    start_ray(ray_address, log_to_driver=log_to_driver)
    run = _serve_on_own_node if ray_address is None else _serve_on_joined_cluster
    with _take_down_at_end(stop_ray, when_lost=abandon_ray):
        _raise_if_stopped(stopped)
        with run(make, gateway, drain_s, stopped) as url:
            yield ServedApplication(url, round(time.perf_counter() - started, 2), ClusterWatch.of_this_process())


@contextmanager
def _take_down_at_end(take_down: Callable[[], None], *, when_lost: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Take something down at the end, however it comes; of a cluster that is lost, only what `when_lost` does."""
    end = take_down
    try:
        yield
    except ClusterLost:
        end = when_lost
        raise
    finally:
        end()


@contextmanager
def _serve_on_own_node(
    make: Callable[[], serve.Application], gateway: GatewayConfig, drain_s: float, stopped: Callable[[], bool]
) -> Iterator[str]:
    """The gateway itself listens; what ends with it is all there is."""
    with _take_down_at_end(_shut_down):
        _deploy(make, gateway, _proxy_port(gateway), stopped)
        yield f"http://{gateway.host}:{gateway.port}"


@contextmanager
def _serve_on_joined_cluster(
    make: Callable[[], serve.Application], gateway: GatewayConfig, drain_s: float, stopped: Callable[[], bool]
) -> Iterator[str]:
    """Serve's proxies listen, and other applications may be there."""
    joined = SharedClusterServe(APP_NAME)
    joined.refuse_second()
    with _take_down_at_end(lambda: joined.remove(drain_s)):
        _deploy(make, gateway, gateway.port, stopped)
        yield joined.url()


def _raise_if_stopped(stopped: Callable[[], bool]) -> None:
    """Between two steps of the start, for a KeyboardInterrupt that was dropped within one, as in a finalizer."""
    if stopped():
        raise KeyboardInterrupt


def _deploy(
    make: Callable[[], serve.Application], gateway: GatewayConfig, proxy_port: int, stopped: Callable[[], bool]
) -> None:
    with boundary(FatalError, "starting the service (is there memory and processor time to spare?)"):
        serve.start(http_options={"host": gateway.host, "port": proxy_port})
        _raise_if_stopped(stopped)
        try:
            serve.run(make(), name=APP_NAME, route_prefix="/")
        except RuntimeError as error:
            raise FatalError(f"the application did not come up: {_failure_text() or error}") from error


def _shut_down() -> None:
    with boundary(FatalError, "stopping the service"):
        serve.shutdown()  # type: ignore[no-untyped-call]


@contextmanager
def served_tools(args: AppArgs) -> Iterator[Any]:
    """Only the Tools deployment, on a private cluster: its handle."""
    start_ray(None, log_to_driver=False)
    with _take_down_at_end(stop_ray), _take_down_at_end(serve.shutdown):
        serve.start(proxy_location="Disabled")
        yield serve.run(build_tools(args), name="tools", route_prefix=None)


def _failure_text() -> str:
    """The errors of the deployments that did not start: the last line of each stack trace."""
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
