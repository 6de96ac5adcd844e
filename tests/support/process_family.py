"""A process and all that it started, and whether they are gone."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable
from typing import Any

import psutil

_GONE_S = 30  # processes of Ray notice within seconds that what started them has ended


def family_of(process: subprocess.Popen[Any]) -> list[psutil.Process]:
    """The process and those that descend from it, at this moment."""
    root = psutil.Process(process.pid)
    return [root, *root.children(recursive=True)]


def assert_nothing_left(family: Iterable[psutil.Process]) -> None:
    """Each has ended, or does within 30 s. One that ended and that nobody has collected yet counts as gone."""
    give_up = time.monotonic() + _GONE_S
    running = list(family)
    while running := [member for member in running if _is_running(member)]:
        assert time.monotonic() < give_up, [str(member) for member in running]
        time.sleep(0.1)


def _is_running(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
