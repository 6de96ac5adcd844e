"""A signal that comes while Ray makes its core worker waits until Ray is done with it."""

import os
import signal
import threading

import pytest
import ray
from ray._private import ray_constants

from deployments.serve.ray_signals import keep_signal_handlers


@pytest.fixture(params=[signal.SIGTERM, signal.SIGINT])
def number(request):
    handler = signal.getsignal(request.param)
    yield request.param
    signal.signal(request.param, handler)


def test_a_signal_during_the_start_of_a_core_worker_is_handled_after_the_start(monkeypatch, number):
    """The process has a second thread, which takes a signal that only the main thread would block."""
    steps = []

    class Worker:
        def __init__(self):
            assert ray_constants.RAY_DISABLE_FAILURE_SIGNAL_HANDLER
            os.kill(os.getpid(), number)
            steps.append("made")

    def stop(*_):
        steps.append("stopped")
        raise KeyboardInterrupt

    monkeypatch.setattr(ray._raylet, "CoreWorker", Worker)
    signal.signal(number, stop)

    def start():
        with keep_signal_handlers():
            ray._raylet.CoreWorker()  # type: ignore[attr-defined]
            steps.append("held")

    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        start()
    done.set()
    other.join()
    assert steps == ["made", "held", "stopped"]
    assert ray._raylet.CoreWorker is Worker  # type: ignore[attr-defined]
    assert signal.getsignal(number) is stop
    assert not ray_constants.RAY_DISABLE_FAILURE_SIGNAL_HANDLER


def test_a_signal_before_the_core_worker_is_handled_at_once(number):
    def stop(*_):
        raise KeyboardInterrupt

    signal.signal(number, stop)
    with pytest.raises(KeyboardInterrupt), keep_signal_handlers():
        os.kill(os.getpid(), number)
        pytest.fail("the signal was not handled")
