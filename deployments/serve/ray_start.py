"""Starts a private Ray node for this process, or joins a running cluster.

Import after `deployments.serve.ray_env.prepare_environment` has run: Ray reads its environment when it is imported.
"""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import ray
from ray.exceptions import AuthenticationError

from deployments.seam.ray import (
    RAY_LOGGERS,
    forget_shutdown,
    is_started_node,
    kill_node,
    own_nodes,
    process_ids,
    redirect_raylet_lines,
)
from deployments.serve.foreign_packages import refuse_foreign_packages
from deployments.serve.ray_env import prepare_token
from deployments.serve.ray_signals import keep_signal_handlers
from tts.errors import FatalError, boundary

_OBJECT_STORE_BYTES = 200 * 2**20
_WORKERS_END_S = 2.0  # workers that run notice within a second that their raylet is gone
_log = logging.getLogger("geotts.ray")


def start_ray(address: str | None, *, log_to_driver: bool) -> None:
    """Start a private node on loopback, or join the cluster at `address`.

    Ray gives its node 30 s to start and has no setting for it. On a busy machine the second try is the quicker one, so
    a private node is tried twice.

    Raises:
        ConfigError: the current folder has packages of its own that Ray would import instead.
        FatalError: it did not start, or the cluster wants a token that is not here.
        KeyboardInterrupt: as a handler of signals raised it, and then nothing is left of the start.
    """
    refuse_foreign_packages(Path.cwd())
    try:
        if address is not None:
            _join_cluster(address, log_to_driver=log_to_driver)
        else:
            prepare_token()
            _start_with_retry(log_to_driver=log_to_driver)
    except KeyboardInterrupt as interrupt:
        forget_failed_start(interrupt)
        raise


def _start_with_retry(*, log_to_driver: bool) -> None:
    what = "starting Ray (is there memory and processor time to spare?)"
    try:
        with boundary(FatalError, what):
            _init_ray(None, log_to_driver=log_to_driver)
        return
    except FatalError as error:
        forget_failed_start(error)
    with boundary(FatalError, what):
        _init_ray(None, log_to_driver=log_to_driver)


def forget_failed_start(error: BaseException) -> None:
    """End the processes of a start that failed, wait for them, and let go of what the error holds.

    Ray leaves them to its exit handler: until this process ends they run or stay as zombies, and whoever collects the
    objects that stand for them is warned of a running process.
    """
    failures = [error, *_causes(error)]
    nodes = _unfinished_nodes(failures)
    with _ending_descendants([*nodes, *own_nodes()]):
        ray.shutdown(wait_for_processes=True)
        for node in nodes:
            kill_node(node)
    for failure in failures:
        traceback.clear_frames(failure.__traceback__)


@contextmanager
def _ending_descendants(nodes: Sequence[Any]) -> Iterator[None]:
    """What the processes of these nodes started ends with the block, too.

    Ray leaves that to them. Agents that a raylet has only just started wait a minute for its cluster first.
    """
    family = [member for node in nodes for pid in process_ids(node) for member in _descendants(pid)]
    yield
    _, alive = psutil.wait_procs(family, timeout=_WORKERS_END_S)
    for member in alive:
        with suppress(psutil.NoSuchProcess):
            member.kill()


def _descendants(pid: int) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []


def _unfinished_nodes(failures: Sequence[BaseException]) -> list[Any]:
    """The nodes that were being made in the frames of these errors. Ray hands out none that is not complete."""
    found: dict[int, Any] = {}
    for failure in failures:
        for frame, _ in traceback.walk_tb(failure.__traceback__):
            found |= {id(value): value for value in frame.f_locals.values() if is_started_node(value)}
    return list(found.values())


def stop_ray() -> None:
    """Leave the cluster; a private one is ended, and its processes are waited for."""
    with _ending_descendants(own_nodes()):
        ray.shutdown(wait_for_processes=True)


def abandon_ray() -> None:
    """Kill the remaining processes of a private node whose cluster failed, without calling Ray: a call would wait for
    the lost cluster for a minute and then abort this process. The process must end with `os._exit` after this."""
    for node in own_nodes():
        kill_node(node)
    forget_shutdown()


def _join_cluster(address: str, *, log_to_driver: bool) -> None:
    try:
        with boundary(FatalError, f"joining the Ray cluster at {address}"):
            _init_ray(address, log_to_driver=log_to_driver)
    except FatalError as error:
        if any(isinstance(cause, AuthenticationError) or "AuthToken" in str(cause) for cause in _causes(error)):
            raise FatalError(
                f"the Ray cluster at {address} wants its token: set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN_PATH to a "
                "file with the token of its nodes (or RAY_AUTH_TOKEN to the token)"
            ) from None
        raise


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What an error came from, nearest first. Ray wraps its refusal of a token twice."""
    cause = error.__cause__ or error.__context__
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _init_ray(address: str | None, *, log_to_driver: bool) -> None:
    for name in RAY_LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    if not log_to_driver:
        redirect_raylet_lines(partial(_log.debug, "%s"))
    with keep_signal_handlers():
        if address is not None:
            ray.init(address, log_to_driver=log_to_driver, logging_level=logging.ERROR, namespace="serve")
            return
        ray.init(
            "local",
            num_cpus=max(2, os.cpu_count() or 2),
            include_dashboard=False,
            object_store_memory=_OBJECT_STORE_BYTES,
            log_to_driver=log_to_driver,
            logging_level=logging.WARNING,
        )
