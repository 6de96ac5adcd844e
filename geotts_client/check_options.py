"""The options of `POST /check`: those of `/locate`, and a claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from geotts_client.options import LocateOptions
from geotts_client.statements import Statement as Statement
from geotts_client.statements import to_list

MAX_CLAIMED = 8
Claimed = Annotated[tuple[Statement, ...], Field(min_length=1, max_length=MAX_CLAIMED), BeforeValidator(to_list)]


class CheckOptions(LocateOptions):
    """The claim is a place by its name, an area as in `within`, or two to eight of them to compare."""

    claim: Claimed = Field(
        description="the claimed place: a name (`Kharkiv`), `lat,lon,km`, countries "
        "(`UA`), `bbox:south,west,north,east`, an area; or a list of 2 to 8 of these to compare"
    )


def checking(claim: Statement | Sequence[Statement], options: LocateOptions | None = None) -> CheckOptions:
    """Make the options for checking a claim.

    Args:
        claim: the claimed place, or 2 to 8 places to compare.
        options: options of a request; the values that are set in them are taken over.

    Returns:
        The options that are set in `options`, with the claim; fields that nobody set have their defaults.

    Raises:
        pydantic.ValidationError: the claim is not valid, or an option is none of a check.
    """
    given = {} if options is None else {name: getattr(options, name) for name in options.model_fields_set}
    return CheckOptions.model_validate({**given, "claim": claim})
