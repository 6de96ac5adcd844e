"""Shipped Serve configurations on a started Ray, as an operator deploys them: deploy, status, a photo."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import yaml

from geotts_benchmarks.machines import deployment
from geotts_benchmarks.machines.deployment import TOKEN
from geotts_benchmarks.machines.namespaces import Machine
from support.basics import ROOT
from support.ray_nodes import tool
from tts.package_files import SAMPLES

__all__ = ["TOKEN", "deploy", "differences", "locate", "operators_environment", "read_deployed_file", "wait_for"]
CONFIGS = ROOT / "ray_configs"
PHOTO = SAMPLES / "town-sign-latin.jpg"


def operators_environment(token: Path) -> dict[str, str]:
    """Ray's token mode, a key of the service, and made-up keys for the live tools, which cannot be reached."""
    live = {"GOOGLE_MAPS_API_KEY": "made-up", "AMAP_API_KEY": "made-up"}
    return {**deployment.operators_environment(token), **live}


def read_deployed_file(name: str) -> dict[str, Any]:
    """What `serve deploy` is given of a file: the file itself, or what the RayService of KubeRay hands to Serve."""
    tree = yaml.safe_load((CONFIGS / name).read_text())
    found: dict[str, Any] = yaml.safe_load(tree["spec"]["serveConfigV2"]) if tree.get("kind") == "RayService" else tree
    return found


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """The dotted places where two trees differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            yield from differences(one.get(key), other.get(key), f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{path}[{number}]")
    elif one != other:
        yield path


def deploy(machine: Machine, folder: Path, tree: dict[str, Any]) -> None:
    """Relative paths in the tree are below the checkout."""
    deployment.deploy(machine, folder, tree, cwd=ROOT)


def wait_for(machine: Machine, wanted: str, seconds: float = 300) -> dict[str, Any]:
    """The status of the application once it is as wanted. Fails when it can no longer be."""
    give_up = time.monotonic() + seconds
    while (found := deployment.status(machine, cwd=ROOT))["status"] != wanted:
        assert found["status"] in ("NOT_STARTED", "DEPLOYING"), found["message"]
        assert time.monotonic() < give_up, found
        time.sleep(1)
    return found


def locate(machine: Machine, url: str, *options: str, code: int = 0) -> dict[str, Any]:
    """What the command on this machine prints for a photo, asking the service at `url`. It must end with `code`."""
    done = machine.run(tool("geotts"), "locate", PHOTO, "--json", "--url", url, *options, cwd=ROOT, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    reply: dict[str, Any] = orjson.loads(done.stdout)
    return reply
