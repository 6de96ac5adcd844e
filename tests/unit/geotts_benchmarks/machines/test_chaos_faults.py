"""The faults of `geotts bench chaos`: what each does to a process or a disk, that it is undone, and their schedule."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from geotts_benchmarks.machines.chaos_faults import Harms, schedule
from geotts_benchmarks.machines.small_disk import small_disk

OPENING = """
import sys
for line in sys.stdin:
    files, found = [], "enough"
    try:
        for _ in range(50):
            files.append(open("/dev/null"))
    except OSError as error:
        found = error.strerror
    for file in files:
        file.close()
    print(found, flush=True)
"""


@contextmanager
def victim():
    """A process that says on demand whether it can open 50 files. The second argument makes it a `Tools` replica."""
    words = [sys.executable, "-c", OPENING, "ServeReplica:geotts:Tools"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            ask_process(process)  # until it runs, it has no command line by which it could be found
            yield process
        finally:
            process.kill()


def ask_process(process):
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def harms(process=None, disks=None, clock=None):
    pids = [process.pid] if process else []
    site = SimpleNamespace(
        head=SimpleNamespace(processes=lambda: pids), worker=SimpleNamespace(processes=list), redis=None
    )
    return Harms(site, disks or {}, clock, random.Random(1))


def test_a_kill_fault_kills_the_process():
    with victim() as process:
        harms(process).do("kill_tools")
        assert process.wait(60) == -9


def test_a_stop_fault_stops_the_process_until_it_is_undone():
    with victim() as process:
        undo = harms(process).do("stop_tools")
        give_up = time.monotonic() + 60
        while psutil.Process(process.pid).status() != psutil.STATUS_STOPPED:
            assert time.monotonic() < give_up
        undo()
        assert ask_process(process) == "enough"


def test_a_handles_fault_takes_the_file_handles_of_a_process_until_it_is_undone():
    with victim() as process:
        assert ask_process(process) == "enough"
        undo = harms(process).do("handles_tools")
        assert ask_process(process) == "Too many open files"
        undo()
        assert ask_process(process) == "enough"


def test_a_fault_without_a_matching_process_does_nothing():
    with victim() as process:
        assert harms(process).do("kill_gateway") is None


def test_a_clock_fault_shifts_the_clock_until_it_is_undone(tmp_path):
    clock = tmp_path / "clock"
    undo = harms(clock=clock).do("clock_step")
    assert abs(int(clock.read_text())) >= 60
    undo()
    assert int(clock.read_text()) == 0


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_full_disk_fault_fills_the_disk_until_it_is_undone(tmp_path):
    with small_disk(tmp_path / "disk", 1) as disk:
        undo = harms(disks={"redis": disk}).do("full_redis")
        with pytest.raises(OSError, match="No space left"):
            (disk.folder / "more").write_bytes(b"x" * 4096)
        undo()
        assert (disk.folder / "more").write_bytes(b"x" * 4096)
    assert not Path(tmp_path / "disk" / "more").exists()


def test_a_schedule_of_faults_follows_its_seed_and_has_each_kind_equally_often():
    kinds = harms(disks={"redis": None}).kinds()
    first = schedule(kinds, 3 * len(kinds), random.Random(7))
    assert first == schedule(kinds, 3 * len(kinds), random.Random(7))
    assert first != schedule(kinds, 3 * len(kinds), random.Random(8))
    assert set(Counter(fault.kind for fault in first).values()) == {3}
    assert all(5 <= fault.lasts_s <= 30 for fault in first if fault.kind.startswith("stop_"))
    assert all(fault.lasts_s == 0 for fault in first if fault.kind in ("kill_gateway", "kill_controller"))
