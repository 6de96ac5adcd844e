"""Machines made of network namespaces: reached, cut off, mended, killed, and removed with all that ran on them."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest
from support.namespaces import Machine, machines

pytestmark = pytest.mark.slow
LISTEN = "import socket, time; s = socket.create_server(('', 7000)); print('up', flush=True); time.sleep(60)"
REACH = "import socket, sys; socket.create_connection((sys.argv[1], 7000), timeout=1)"


@contextmanager
def listening(machine: Machine):
    with machine.start(sys.executable, "-c", LISTEN, stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            yield process
        finally:
            process.kill()


def reaches(asking: Machine, asked: Machine):
    return asking.run(sys.executable, "-c", REACH, asked.address, timeout=20).returncode == 0


def test_a_machine_is_reached_until_it_is_cut_off_and_again_when_it_is_mended():
    with machines(2) as (one, other), listening(other):
        assert reaches(one, other)
        other.disconnect()
        assert not reaches(one, other)
        other.reconnect()
        assert reaches(one, other)


def test_processes_on_a_machine_end_with_the_machine():
    with machines(2) as (one, other), listening(one) as killed, listening(other) as surviving:
        one.kill()
        assert killed.wait(5)
        assert one.processes() == []
        assert surviving.poll() is None


def test_machines_with_running_processes_are_removed_completely():
    with machines(1) as (machine,):
        process = machine.start("sleep", "60")
    assert process.wait(5)
    names = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
    assert machine.name not in names


def test_a_process_that_has_not_entered_its_machine_yet_ends_with_it(tmp_path, monkeypatch):
    """On a busy machine, `ip` may take a while until it is in the namespace."""
    slow = tmp_path / "ip"
    slow.write_text(f'#!/bin/sh\n[ "$2" = exec ] && sleep 3\nexec {shutil.which("ip")} "$@"\n')
    slow.chmod(0o755)
    with machines(1) as (machine,):
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        process = machine.start("sleep", "60")
        assert machine.processes() == []
    assert process.wait(1) != 0
