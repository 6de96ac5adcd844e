"""Numbers next to zero are taken as zero where they cost too much, and only there."""

from __future__ import annotations

import platform
import sys
import threading

import numpy as np
import pytest

from tts.perception.denormals import denormals_as_zero

_TINY = 1e-310  # a denormal double

knows_the_register = pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() != "x86_64",
    reason="denormals are computed at full speed here, or nobody knows how to switch them off",
)


def _survives() -> bool:
    """Whether half of a number next to zero is still one: computed when called, in the thread that asks."""
    return bool((np.full(64, _TINY) * 0.5).any())


@knows_the_register
def test_denormal_numbers_are_zero_inside_the_block() -> None:
    with denormals_as_zero():
        assert not _survives()


def test_denormal_numbers_survive_outside_the_block_and_after_an_error() -> None:
    assert _survives()
    with pytest.raises(RuntimeError), denormals_as_zero():
        raise RuntimeError
    assert _survives()


@knows_the_register
def test_a_nested_block_does_not_end_the_outer_one() -> None:
    with denormals_as_zero():
        with denormals_as_zero():
            pass
        assert not _survives()
    assert _survives()


@knows_the_register
def test_denormal_numbers_survive_in_another_thread() -> None:
    inside, looked = threading.Event(), threading.Event()
    seen: list[bool] = []

    def other() -> None:
        inside.wait(10)
        seen.append(_survives())
        looked.set()

    thread = threading.Thread(target=other)
    thread.start()
    with denormals_as_zero():
        inside.set()
        looked.wait(10)
    thread.join()
    assert seen == [True]
