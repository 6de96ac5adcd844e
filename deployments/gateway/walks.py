"""Checks whether the options of a walk fit the photos of a request."""

from __future__ import annotations

from tts.domain.reach import walk_problem
from tts.domain.request import LocateOptions
from tts.errors import RequestError


def check_walk(options: LocateOptions, photos: int) -> None:
    """Raises RequestError about the option that does not fit a number of photos."""
    if (problem := walk_problem(options, photos)) is not None:
        field, why = problem
        raise RequestError(f"{field}: {why}", errors=({"field": field, "problem": why},))
