"""What a caller of `POST /locate/{request_id}/continue` adds to an earlier request."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from geotts_client.area import Area
from geotts_client.options import MAX_RULED_OUT, LocateOptions, TakenAt, area_given
from geotts_client.statements import Statement, to_list
from geotts_client.value import Value

MAX_FACT = 1000
_TRUE_WORDS = ("true", "yes", "1")
_FALSE_WORDS = ("", "false", "no", "0")
_LOCATE_FIELDS = LocateOptions.model_fields


def _parse_not_there(given: object) -> object:
    if isinstance(given, str) and given.strip().lower() in (*_TRUE_WORDS, *_FALSE_WORDS):
        return given.strip().lower() in _TRUE_WORDS
    return given if given is None or isinstance(given, bool) else to_list(given)


class ContinueOptions(Value):
    """Everything that is not named here is as in the earlier request. With none of `not_there`, `fact`, `within` and
    further photos, the earlier answer is rejected.
    """

    not_there: Annotated[
        bool | Annotated[tuple[Statement, ...], Field(min_length=1, max_length=MAX_RULED_OUT)] | None,
        BeforeValidator(_parse_not_there),
    ] = Field(
        default=None,
        description="where the photo was not taken: `true` for the earlier answer; else a name (`Sofia`), "
        "`lat,lon,km`, countries (`BG`), an area, or a list of these",
    )
    fact: Annotated[str, Field(max_length=MAX_FACT)] | None = Field(
        default=None,
        description="a new fact, in words. It is a claim, like `hint`. The text `not in Italy` rules out Italy",
    )
    within: Annotated[Area | None, BeforeValidator(area_given)] = Field(
        default=None, description="an area in which the answer must lie; it replaces the area of the earlier request"
    )
    taken_at: TakenAt = Field(default=(), description="when further photos of a walk were taken (RFC 3339)")
    deadline_s: Annotated[float, Field(ge=0.1, le=3600, allow_inf_nan=False)] | None = Field(
        default=None,
        description="seconds after which the best answer so far is returned; default: as in the earlier request",
    )
    resume_grace_s: Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)] = Field(
        default=0.0, description=_LOCATE_FIELDS["resume_grace_s"].description
    )
    include: Literal["none", "summary", "full"] | None = Field(
        default=None,
        description="how much of the trajectories a JSON reply contains; default: as in the earlier request",
    )
