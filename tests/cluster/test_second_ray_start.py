"""A real Ray node that does not come up in time is started once more, and both are gone without a trace at the end."""

import gc

import psutil
import pytest
from ray._private import services

import deployments.launch.cluster  # noqa: F401  it prepares the environment of Ray
from deployments.serve.ray_start import start_ray, stop_ray

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]


def test_a_node_that_timed_out_leaves_neither_process_nor_zombie_nor_warning(monkeypatch):
    """Warnings are errors: an object for a process that nobody waited for fails the test in which it is collected."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    get_node, asked, first = services.get_node, [], []

    def too_slow(*arguments):
        asked.append(arguments)
        if len(asked) == 1:
            first.extend(psutil.Process().children(recursive=True))
            raise TimeoutError("the node did not start in time")
        return get_node(*arguments)

    monkeypatch.setattr(services, "get_node", too_slow)
    start_ray(None, log_to_driver=False)
    assert len(asked) > 1
    started = {found.pid for found in first} - before
    assert len(started) >= 2
    assert not started & {child.pid for child in psutil.Process().children(recursive=True)}
    stop_ray()
    gc.collect()
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before
