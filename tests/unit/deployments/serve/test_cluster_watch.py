"""A cluster that died is noticed within seconds, and named by the part that is gone."""

import socket
import tempfile
from pathlib import Path

import pytest

from deployments.serve import cluster_watch
from deployments.serve.cluster_watch import ClusterLost, ClusterWatch


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 1000.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(cluster_watch, "time", clock)
    return clock


@pytest.fixture
def parts():
    """Sockets that stand for the control process and the raylet; closing one is its death."""
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as folder,
        socket.socket() as gcs,
        socket.socket(socket.AF_UNIX) as raylet,
    ):
        gcs.bind(("127.0.0.1", 0))
        raylet.bind(str(Path(folder) / "raylet"))
        gcs.listen()
        raylet.listen()
        yield ClusterWatch(gcs.getsockname(), f"unix://{folder}/raylet"), gcs, raylet


def test_the_watch_raises_nothing_for_a_cluster_that_lives(parts, clock):
    watch, _, _ = parts
    for _ in range(60):
        watch.check()
        clock.now += 1


@pytest.mark.parametrize(("part", "words", "within_s"), [(1, "control process at 127.0.0.1", 15), (2, "the raylet", 5)])
def test_the_watch_names_a_lost_part_of_the_cluster_within_seconds(parts, clock, part, words, within_s):
    watch = parts[0]
    watch.check()
    parts[part].close()
    with pytest.raises(ClusterLost, match=words):
        for _ in range(within_s):
            clock.now += 1
            watch.check()


def test_a_control_process_that_comes_back_is_forgiven(parts, clock):
    watch, gcs, _ = parts
    address = gcs.getsockname()
    gcs.close()
    watch.check()
    clock.now += 8
    watch.check()
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(address)
        again.listen()
        clock.now += 8
        watch.check()
    clock.now += 8
    watch.check()
