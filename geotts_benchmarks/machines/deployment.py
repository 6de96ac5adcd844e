"""A service on a cluster of machines, as an operator deploys it: keys, `serve deploy`, `serve status`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from deployments.gateway.auth import fingerprint, new_key
from geotts_benchmarks.machines.namespaces import Machine
from geotts_benchmarks.machines.ray_nodes import tool
from tts.errors import FatalError

TOKEN = "a-token-of-machines-that-only-this-machine-reaches"
_APPLICATION = "geotts"
_POLL_S = 2.0  # each look is a command that starts Python


def operators_environment(token: Path) -> dict[str, str]:
    """Writes Ray's token to a file. What names it, and a key of the service for callers on other machines."""
    token.write_text(TOKEN)
    key = new_key()
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "GEOTTS_API_KEYS": f"operator {fingerprint(key)}",
        "GEOTTS_API_KEY": key,
    }


def serve_config(args: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration for `serve deploy` with a proxy on every node, at port 8000. `args`: those of `build`."""
    return {
        "proxy_location": "EveryNode",
        "http_options": {"host": "0.0.0.0", "port": 8000, "request_timeout_s": 900},
        "applications": [
            {"name": _APPLICATION, "route_prefix": "/", "import_path": "deployments.app:build", "args": dict(args)}
        ],
    }


def deploy(machine: Machine, folder: Path, tree: Mapping[str, Any], *, cwd: Path | None = None) -> None:
    """Write the configuration into `folder` and give it to Serve. Raises FatalError when that is refused."""
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(dict(tree), sort_keys=False))
    done = machine.run(tool("serve"), "deploy", config, cwd=cwd)
    if done.returncode:
        raise FatalError(f"serve deploy failed:\n{done.stdout}{done.stderr}")


def status(machine: Machine, *, cwd: Path | None = None) -> dict[str, Any]:
    """The application as `serve status` prints it; its status is empty while Serve does not answer."""
    done = machine.run(tool("serve"), "status", cwd=cwd)
    if done.returncode:
        return {"status": "", "message": done.stdout + done.stderr, "deployments": {}}
    found: dict[str, Any] = yaml.safe_load(done.stdout)["applications"][_APPLICATION]
    return found


def is_whole(found: Mapping[str, Any]) -> bool:
    """Whether the application runs and no replica of it is missing, starting or on its way out."""
    deployments = found["deployments"].values()
    return found["status"] == "RUNNING" and all(
        one["status"] == "HEALTHY" and set(one["replica_states"]) == {"RUNNING"} for one in deployments
    )


def wait_until_whole(machine: Machine, within_s: float, *, cwd: Path | None = None) -> float:
    """Seconds until `is_whole`. Raises FatalError when it is not in time."""
    started = time.monotonic()
    while not is_whole(found := status(machine, cwd=cwd)):
        if time.monotonic() - started > within_s:
            raise FatalError(f"the service is not whole after {within_s:g} s: {_status_text(found)}")
        time.sleep(_POLL_S)
    return time.monotonic() - started


def _status_text(found: Mapping[str, Any]) -> str:
    states = {name: (one["status"], one["replica_states"]) for name, one in found["deployments"].items()}
    return f"{found['status']} {states} {found['message'][-500:]}"
