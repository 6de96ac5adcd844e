"""Places that a caller names in a request: by name, or as an area."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import Field

from geotts_client.area import Area

Statement = Annotated[str, Field(min_length=1, max_length=400)] | Area


def to_list(given: object) -> object:
    """The places as a list. A single place becomes a list of one; text may be a list or an object as JSON.

    Args:
        given: the value of a field that takes places: a name, an area, or a list of these.

    Returns:
        A list or a tuple; its items are not checked here. Text that is no JSON is one item.
    """
    if isinstance(given, str) and given.lstrip().startswith(("[", "{")):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):  # no JSON, or nested too deeply
            return (given,)
    return given if isinstance(given, list | tuple) else (given,)
