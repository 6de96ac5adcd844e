"""Machines made of network namespaces (`geotts_benchmarks.machines`), for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from geotts_benchmarks.machines import namespaces
from geotts_benchmarks.machines.namespaces import Machine, missing_requirement

__all__ = ["Machine", "machines", "missing_requirement"]


@contextmanager
def machines(count: int, **options: Any) -> Iterator[list[Machine]]:
    """As `namespaces.machines`. Skips the test where namespaces cannot be made."""
    if reason := missing_requirement():
        pytest.skip(reason)
    with namespaces.machines(count, **options) as made:
        yield made
