"""Machines made of Linux network namespaces: each has its own loopback, ports, hosts file and an address on one switch.

What runs on them are processes of this machine, so they share its files, processors and memory, and nothing of its
network: one may use the shipped ports, bind every address, and cut a machine off. Each has a folder of its own for
Ray, which notes there which cluster runs on the machine. Needs root and `ip`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tts.errors import FatalError

_HOSTS_FILES = Path("/etc/netns")  # `ip netns exec` lays what is in here over /etc
_PREFIX = "10.213.0"


@dataclass(frozen=True)
class Machine:
    """A namespace: its name, its address on the switch, and what every process on it has in its environment
    beside that of this process, of which nothing about Ray is handed on."""

    name: str
    address: str
    environment: Mapping[str, str] = field(default_factory=dict)
    _started: list[subprocess.Popen[Any]] = field(default_factory=list, init=False, repr=False, compare=False)

    def start(self, *command: str | Path, **options: Any) -> subprocess.Popen[Any]:
        """Start a process on this machine. It ends with the machine, if the caller has not ended it before. Ctrl-C in
        a terminal does not reach it.
        """
        words = ["ip", "netns", "exec", self.name, *map(str, command)]
        process = subprocess.Popen(words, **self._with_env({"start_new_session": True, **options}))
        self._started.append(process)
        return process

    def run(self, *command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a process on this machine to its end; its output as text."""
        words = ["ip", "netns", "exec", self.name, *map(str, command)]
        how = {"capture_output": True, "text": True, "timeout": 120, **self._with_env(options)}
        return subprocess.run(words, check=False, **how)

    def disconnect(self) -> None:
        """Take the machine off the switch."""
        _run_ip("-n", self.name, "link", "set", "eth0", "down")

    def reconnect(self) -> None:
        """Put the machine back on the switch."""
        _run_ip("-n", self.name, "link", "set", "eth0", "up")
        _add_default_route(self.name)

    def processes(self) -> list[int]:
        """Ids of all processes on this machine."""
        return [int(pid) for pid in _run_ip("netns", "pids", self.name).split()]

    def kill(self) -> None:
        """SIGKILL for all that runs on this machine, as when its power is cut, until nothing is left."""
        while pids := {*self.processes(), *self._running_ids()}:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def _running_ids(self) -> list[int]:
        """Ids of what was started here and has not ended. Some may not have entered the namespace yet."""
        return [process.pid for process in self._started if process.poll() is None]

    def _with_env(self, options: dict[str, Any]) -> dict[str, Any]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        return {**options, "env": {**inherited, **self.environment, **options.get("env", {})}}


@contextmanager
def machines(
    count: int, *, environment: Mapping[str, str] | None = None, names: Mapping[str, str] | None = None
) -> Iterator[list[Machine]]:
    """So many machines on one switch, removed at the end with all that still runs on them.

    Args:
        count: how many.
        environment: what every process on them has in its environment.
        names: further lines of their hosts files, name to address.

    Raises:
        FatalError: namespaces cannot be made here; `missing_requirement` says why.
    """
    if reason := missing_requirement():
        raise FatalError(reason)
    tag = f"gt{os.getpid()}"
    with ExitStack() as stack:
        switch = _namespace(stack, f"{tag}s")
        _run_ip("-n", switch, "link", "add", "br0", "type", "bridge")
        _run_ip("-n", switch, "link", "set", "br0", "up")
        made = []
        for number in range(1, count + 1):
            name, address = _namespace(stack, f"{tag}n{number}"), f"{_PREFIX}.{number}"
            _connect_to_switch(name, address, switch, f"port{number}")
            _write_hosts(stack, name, address, names or {})
            machine = Machine(name, address, {**(environment or {}), "RAY_TMPDIR": _folder_of_ray(stack)})
            stack.callback(machine.kill)
            made.append(machine)
        yield made


def missing_requirement() -> str:
    """Why namespaces cannot be made here; empty when they can."""
    if shutil.which("ip") is None:
        return "network namespaces need `ip` (Debian: apt install iproute2)"
    if os.geteuid() != 0:
        return "network namespaces need root"
    probe = f"gt{os.getpid()}p"
    tried = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"network namespaces cannot be made here: {tried.stderr.strip()}"
    _run_ip("netns", "delete", probe)
    return ""


def _namespace(stack: ExitStack, name: str) -> str:
    _run_ip("netns", "add", name)
    stack.callback(_run_ip, "netns", "delete", name)
    _run_ip("-n", name, "link", "set", "lo", "up")
    return name


def _folder_of_ray(stack: ExitStack) -> str:
    """A folder whose name is short, because Ray keeps sockets below it."""
    folder = tempfile.mkdtemp(prefix="gt", dir="/tmp")
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _connect_to_switch(name: str, address: str, switch: str, port: str) -> None:
    """A cable from the machine to the switch."""
    _run_ip("link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", port, "netns", switch)
    _run_ip("-n", switch, "link", "set", port, "master", "br0", "up")
    _run_ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
    _run_ip("-n", name, "link", "set", "eth0", "up")
    _add_default_route(name)


def _add_default_route(name: str) -> None:
    """A default route, by which programs learn their address."""
    _run_ip("-n", name, "route", "replace", "default", "dev", "eth0")


def _write_hosts(stack: ExitStack, name: str, address: str, names: Mapping[str, str]) -> None:
    folder = _HOSTS_FILES / name
    folder.mkdir(parents=True)
    stack.callback(shutil.rmtree, folder)
    lines = {"localhost": "127.0.0.1", name: address, **names}
    (folder / "hosts").write_text("".join(f"{address} {host}\n" for host, address in lines.items()))


def _run_ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout
