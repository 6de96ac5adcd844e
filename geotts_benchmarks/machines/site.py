"""Two machines with Ray, Redis and a whole service, and a third for its clients: where `nodes` and `chaos` run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geotts_benchmarks.harness import print_progress
from geotts_benchmarks.machines.deployment import deploy, operators_environment, serve_config, wait_until_whole
from geotts_benchmarks.machines.load import SteadyLoad, steady_load
from geotts_benchmarks.machines.namespaces import Machine, machines, missing_requirement
from geotts_benchmarks.machines.ray_nodes import RayCluster, ray_cluster
from geotts_benchmarks.machines.redis_server import RedisServer

_HEAD_ADDRESS = "10.213.0.1"
_WORKER_ADDRESS = "10.213.0.2"
URLS = f"http://{_HEAD_ADDRESS}:8000,http://{_WORKER_ADDRESS}:8000"
_START_TIMEOUT_S = 300.0
_DEPLOYMENTS = ("gateway", "locatability", "rollout", "tools", "verifier")


def missing_site_requirement() -> str:
    """Why there cannot be such a site here; empty when there can."""
    if reason := missing_requirement():
        return reason
    return "" if shutil.which("redis-server") else "redis-server is not installed (Debian: apt install redis-server)"


@dataclass(frozen=True, slots=True)
class Site:
    """The machines, what runs on them, and the configuration of the service."""

    head: Machine
    worker: Machine
    clients: Machine
    ray: RayCluster
    redis: RedisServer
    folder: Path
    journal: Path
    tree: Mapping[str, Any]

    def deploy(self, tree: Mapping[str, Any]) -> None:
        """Give a configuration to Serve. Raises FatalError when it is refused."""
        deploy(self.head, self.folder, tree)

    def wait_until_whole(self, within_s: float) -> float:
        """Seconds until every replica runs. Raises FatalError when that is not in time."""
        return wait_until_whole(self.head, within_s)

    @contextmanager
    def load(self, *, clients: int, deadline_s: float, parallel: int) -> Iterator[SteadyLoad]:
        """Steady clients that know both addresses of the service."""
        load = steady_load(self.clients, URLS, self.folder, clients=clients, deadline_s=deadline_s, parallel=parallel)
        with load as running:
            yield running


@contextmanager
def running_site(folder: Path, *, stores: Path | None = None, **changes: Any) -> Iterator[Site]:
    """The machines and the running service, until the block ends.

    Args:
        folder: for what belongs to this run.
        stores: where Redis writes its file; in `folder` when absent.
        changes: further sections of the arguments of the service, or of its `gateway`; and its `runtime_env`.

    Raises:
        FatalError: something does not come up.
    """
    journal = folder / "journal.jsonl"
    with ExitStack() as stack:
        environment = operators_environment(folder / "token")
        head, worker, clients = stack.enter_context(machines(3, environment=environment))
        redis = RedisServer(head, stores or folder)
        stack.callback(redis.kill)
        redis.start()
        ray = stack.enter_context(ray_cluster([head, worker], num_cpus=16))
        runtime_env = changes.pop("runtime_env", None)
        tree = serve_config(_service_args(journal, **changes))
        if runtime_env is not None:
            tree["applications"][0]["runtime_env"] = runtime_env
        site = Site(head, worker, clients, ray, redis, folder, journal, tree)
        site.deploy(tree)
        print_progress(f"the service is whole after {site.wait_until_whole(_START_TIMEOUT_S):.0f} s")
        yield site


def _service_args(journal: Path, *, gateway: Mapping[str, Any] | None = None, **sections: Any) -> dict[str, Any]:
    """Everything twice, state and the cache of tools in Redis on the first machine, and an engine that takes a second
    for a turn.
    """
    twice = {"num_cpus": 1, "replicas": 2, "drain_s": 30}
    engine = {"name": "scripted", "turns": 3, "tokens_per_turn": 16, "turn_s": 1.0, "journal": str(journal)}
    return {
        "config_version": 1,
        "engine": engine,
        "routing": {"method": "fixed", "stop": "none", "stragglers": "wait"},
        "gateway": {
            "host": "0.0.0.0",
            "access": {"mode": "keys"},
            "run_store": f"redis://{_HEAD_ADDRESS}:6379/0",
            **(gateway or {}),
        },
        "deployments": {name: twice for name in _DEPLOYMENTS},
        "tools": {"cache": f"redis://{_HEAD_ADDRESS}:6379/1"},
        "telemetry": {"logs": "json"},
        **sections,
    }
