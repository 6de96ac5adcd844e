"""Checks whether the options of a walk fit the photos of a request."""

from __future__ import annotations

from deployments.gateway.wrong_field import wrong_field
from tts.domain.reach import walk_problem
from tts.domain.request import LocateOptions


def check_walk(options: LocateOptions, photos: int) -> None:
    """Raises RequestError about the option that does not fit a number of photos."""
    if (problem := walk_problem(options, photos)) is not None:
        raise wrong_field(*problem)
