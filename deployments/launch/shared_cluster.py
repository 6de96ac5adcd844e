"""Runs the application on an existing Ray cluster: finds its address, and removes it without cutting a request."""

from __future__ import annotations

import time
from typing import Any

import httpx
import psutil
import ray
from ray import serve
from ray.serve.schema import ProxyStatus

from deployments.config import AppArgs
from deployments.config.loopback import is_loopback
from deployments.seam.ray import serve_listener
from tts.errors import ConfigError, FatalError, boundary

_CONTROLLER = {"name": "SERVE_CONTROLLER_ACTOR", "namespace": "serve"}
_ANSWER_PATIENCE_S = 20.0  # a proxy learns of a new application within a second or two
_PROXY_STARTS_S = 90.0  # beyond the time that Serve gives a proxy to start (RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S)
_STOP_SLACK_S = 30.0  # beyond the longest drain: deployments stop one layer after the other
_EVERY_ADDRESS = {"0.0.0.0", "::", ""}


def reachable_from_here(args: AppArgs) -> AppArgs:
    """Keeps the gateway on this node where Serve listens on loopback: only this node could reach its proxy elsewhere.

    Call once Serve has started: what counts is the address of its first start, not that of `args`.
    """
    gateway = args.deployments.gateway
    here = _alive_nodes() & _own_addresses()
    if not here or gateway.bundles or not is_loopback(serve_listener().host or ""):
        return args
    resources = {**gateway.resources, f"node:{min(here)}": 0.001}
    deployments = args.deployments.model_copy(update={"gateway": gateway.model_copy(update={"resources": resources})})
    return args.model_copy(update={"deployments": deployments})


class SharedClusterServe:
    """Serve on a joined cluster, which may have been running before, with applications of others."""

    def __init__(self, application: str) -> None:
        self._application = application
        self._was_running = _CONTROLLER in ray.util.list_named_actors(all_namespaces=True)

    def refuse_second(self) -> None:
        """Raises ConfigError when the cluster runs the application already: its users would lose it."""
        if self._was_running and self._application in serve.status().applications:
            raise ConfigError(
                f"the cluster already runs an application {self._application!r}: stop the `geotts serve` that runs it, "
                "change it with `serve deploy`, or remove it with `serve shutdown`"
            )

    def url(self) -> str:
        """Where the application answers, from this machine where it does so here.

        Raises:
            FatalError: Serve's proxies listen where this machine cannot reach them.
        """
        options = serve_listener()
        addresses = _hosts_to_try(options.host)
        urls = [f"http://{f'[{host}]' if ':' in host else host}:{options.port}" for host in addresses]
        started = time.monotonic()
        while (waited_s := time.monotonic() - started) < _ANSWER_PATIENCE_S or (
            waited_s < _PROXY_STARTS_S and _are_proxies_starting()
        ):
            for url in urls:
                if _is_answering(url):
                    return url
            time.sleep(0.3)
        raise FatalError(
            f"the application runs, but nothing answers at {' or '.join(urls)}: Serve listens on {options.host} of "
            f"the node of its proxy; use --host 0.0.0.0, and "
            "where Serve was running before, shut it down first (its addresses are those of its first start)"
        )

    def remove(self, drain_s: float) -> None:
        """Take the application away once its requests are done, `drain_s` at most; Serve too, if nobody else uses it.

        Raises:
            FatalError: the cluster does not answer any more.
        """
        with boundary(FatalError, "stopping the service"):
            serve.delete(self._application, _blocking=False)
            give_up = time.monotonic() + drain_s + _STOP_SLACK_S
            while self._application in (applications := serve.status().applications) and time.monotonic() < give_up:
                time.sleep(0.1)
            if not self._was_running and not set(applications) - {self._application}:
                serve.shutdown()  # type: ignore[no-untyped-call]


def _hosts_to_try(host: str | None) -> list[str]:
    """Addresses to try, nearest first. Proxies are where replicas are, so this node may have none."""
    if (host or "") not in _EVERY_ADDRESS:
        return [host or ""]
    own = _own_addresses()
    return sorted(_alive_nodes(), key=lambda address: (address not in own, address))


def _alive_nodes() -> set[str]:
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return {node["NodeManagerAddress"] for node in nodes if node["Alive"]}


def _own_addresses() -> set[str]:
    return {entry.address for entries in psutil.net_if_addrs().values() for entry in entries}


def _are_proxies_starting() -> bool:
    return ProxyStatus.STARTING in serve.status().proxies.values()


def _is_answering(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=2, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False
