"""What a caller of `POST /check` asks for: the options of `/locate`, and a claim."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from geotts_client.area import Area
from geotts_client.options import LocateOptions

MAX_CLAIMED = 8
Statement = Annotated[str, Field(min_length=1, max_length=400)] | Area


def _listed(given: object) -> object:
    """One place is a list of one; a form field may hold JSON."""
    if isinstance(given, str) and given.lstrip().startswith(("[", "{")):
        try:
            given = json.loads(given)
        except ValueError:
            return (given,)
    return given if isinstance(given, list | tuple) else (given,)


Claimed = Annotated[tuple[Statement, ...], Field(min_length=1, max_length=MAX_CLAIMED), BeforeValidator(_listed)]


class CheckOptions(LocateOptions):
    """The claim is a place by its name, an area as in `within`, or two to eight of them to compare."""

    claim: Claimed = Field(
        description="the place that somebody says the photo shows: a name (`Kharkiv`), `lat,lon,km`, countries "
        "(`UA`), `bbox:south,west,north,east`, an area; or a list of 2 to 8 of these to compare"
    )


def checking(claim: Statement | Sequence[Statement], options: LocateOptions | None = None) -> CheckOptions:
    """The options of a request that checks a claim, with what `options` set. Raises pydantic.ValidationError."""
    given = {} if options is None else {name: getattr(options, name) for name in options.model_fields_set}
    return CheckOptions.model_validate({**given, "claim": claim})
