"""A private Ray node that is too slow the first time is started once more, and nothing of the first try is left."""

import gc
import subprocess
import sys
import threading
import warnings

import psutil
import pytest
from ray._private.node import Node
from ray._private.services import ProcessInfo

from deployments.serve import ray_start
from tts.errors import FatalError


def half_made(process):
    """A node as Ray leaves one whose start failed: its processes run, and nobody but the failing frames holds it."""
    info = ProcessInfo(
        process=process, stdout_file=None, stderr_file=None, use_valgrind=False, use_gdb=False,
        use_valgrind_profiler=False, use_perftools_profiler=False, use_tmux=False,
    )  # fmt: skip
    node = Node.__new__(Node)
    node.all_processes = {"raylet": [info]}
    node._unreaped_processes = {}
    node.removal_lock = threading.Lock()
    return node


@pytest.fixture
def starts(monkeypatch):
    """Stands for `ray.init`: the first `failures` starts leave a running process behind, as Ray does, and fail."""

    def plan(failures):
        raylet_pids: list[int | None] = []

        def init(address, *, log_to_driver):
            if len(raylet_pids) < failures:
                node = half_made(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]))
                raylet_pids.append(node.all_processes["raylet"][0].process.pid)
                raise RuntimeError("the node did not start in time")
            raylet_pids.append(None)

        monkeypatch.setattr(ray_start, "_init_ray", init)
        return raylet_pids

    return plan


@pytest.mark.slow
def test_a_second_start_of_ray_succeeds_and_the_first_leaves_no_process(starts):
    raylet_pids = starts(failures=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # of what other tests have not closed
        gc.collect()
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        ray_start.start_ray(None, log_to_driver=False)
        gc.collect()
    assert raylet_pids[1:] == [None]
    assert [str(warning.message) for warning in shown if warning.category is ResourceWarning] == []
    assert raylet_pids[0] not in {process.pid for process in psutil.Process().children()}


def test_two_failed_starts_of_ray_are_an_error_that_says_what_to_check(starts):
    starts(failures=2)
    with pytest.raises(FatalError, match="memory and processor time") as failure:
        ray_start.start_ray(None, log_to_driver=False)
    ray_start.forget_failed_start(failure.value)


def test_an_interrupted_start_leaves_no_process(monkeypatch):
    """As Ctrl-C does in the middle of a start, before Ray has handed its node to anybody."""
    raylet_pids = []

    def init(address, *, log_to_driver):
        node = half_made(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]))
        raylet_pids.append(node.all_processes["raylet"][0].process.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(ray_start, "_init_ray", init)
    with pytest.raises(KeyboardInterrupt):
        ray_start.start_ray(None, log_to_driver=False)
    assert len(raylet_pids) == 1
    assert raylet_pids[0] not in {process.pid for process in psutil.Process().children()}


def test_connecting_to_an_existing_cluster_is_tried_once(starts):
    raylet_pids = starts(failures=1)
    with pytest.raises(FatalError, match=r"10\.0\.0\.1:6379") as failure:
        ray_start.start_ray("10.0.0.1:6379", log_to_driver=False)
    ray_start.forget_failed_start(failure.value)
    assert len(raylet_pids) == 1


_SERVES_LIMITS = """
from deployments.serve.ray_env import prepare_environment
prepare_environment()
from ray.serve._private import constants
print(constants.PROXY_READY_CHECK_TIMEOUT_S, constants.HTTP_PROXY_TIMEOUT)
"""


def test_the_proxy_of_ray_serve_may_take_as_long_as_a_service_start_waits():
    """Serve by itself kills one that is not ready after 5 s, as on a busy machine."""
    seen = subprocess.run([sys.executable, "-c", _SERVES_LIMITS], capture_output=True, text=True, check=True)
    ready_s, start_s = map(float, seen.stdout.split())
    assert ready_s >= start_s
