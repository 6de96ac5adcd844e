"""Places as callers name them in a request: in words, or as an area."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import Field

from geotts_client.area import Area

Statement = Annotated[str, Field(min_length=1, max_length=400)] | Area


def listed(given: object) -> object:
    """One place is a list of one; a form field may hold JSON."""
    if isinstance(given, str) and given.lstrip().startswith(("[", "{")):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):  # no JSON, or nested too deeply
            return (given,)
    return given if isinstance(given, list | tuple) else (given,)
