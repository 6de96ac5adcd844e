"""A private Ray node that is too slow the first time is started once more, and nothing of the first try is left."""

import gc
import subprocess
import sys
import warnings

import psutil
import pytest

from deployments import cluster
from tts.errors import FatalError


@pytest.fixture
def starts(monkeypatch):
    """Stands for `ray.init`: the first `failures` starts leave a process behind, as Ray does, and fail."""

    def plan(failures):
        left = []

        def start(address, *, log_to_driver):
            if len(left) < failures:
                node = subprocess.Popen([sys.executable, "-c", ""])
                left.append(node.pid)
                raise RuntimeError("the node did not start in time")
            left.append(None)

        monkeypatch.setattr(cluster, "_start_ray", start)
        return left

    return plan


def test_the_second_try_counts_and_the_first_leaves_no_process_and_no_complaint(starts):
    left = starts(failures=1)
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        cluster._start_patiently(None, log_to_driver=False)
        gc.collect()
    assert left[1:] == [None]
    assert [str(complaint.message) for complaint in complaints if complaint.category is ResourceWarning] == []
    psutil.wait_procs([process for process in psutil.Process().children() if process.pid == left[0]], timeout=10)
    subprocess.run([sys.executable, "-c", ""], check=True)  # the next process that is started buries the first
    assert left[0] not in {process.pid for process in psutil.Process().children()}


def test_two_failures_are_an_error_that_says_what_to_look_for(starts):
    starts(failures=2)
    with pytest.raises(FatalError, match="memory and processor time") as failure:
        cluster._start_patiently(None, log_to_driver=False)
    cluster._forget(failure.value)


def test_somebody_elses_cluster_is_asked_once(starts):
    left = starts(failures=1)
    with pytest.raises(FatalError) as failure:
        cluster._start_patiently("10.0.0.1:6379", log_to_driver=False)
    cluster._forget(failure.value)
    assert len(left) == 1
