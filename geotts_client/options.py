"""The options of a request."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, BeforeValidator, Field

from geotts_client.area import Area
from geotts_client.area_words import area_of
from geotts_client.budget import Budget, budget_given
from geotts_client.claimed_place import ClaimedPlace
from geotts_client.plan import Depth
from geotts_client.statements import Statement, to_list
from geotts_client.value import Value

MAX_PARALLEL = 32
MAX_RULED_OUT = 32
MAX_QUESTIONS = 32
_PROBABILITY = r"(0?\.\d{1,4}|1|1\.0)"
_POINTS = r"(\d{1,2}(\.\d{1,2})?|\.\d{1,2})"
STOP_PATTERN = rf"^(none|quorum(:\d{{1,2}})?|first:\d{{1,2}}|(beta|worth)(:{_PROBABILITY})?|loss(:{_POINTS})?)$"


def area_given(given: object) -> object:
    """Parse an area that is text; return any other value unchanged.

    Args:
        given: the value of a field such as `within`: text as in `area_of`, an area, an object or None. pydantic checks
            what is not text.

    Returns:
        The area for a text; else `given` itself, unchecked.

    Raises:
        ValueError: the text is not an area; the message has the three forms.
    """
    return area_of(given) if isinstance(given, str) else given


def _parse_places(given: object) -> object:
    return () if given is None or given == "" else to_list(given)


def _parse_list(given: object) -> object:
    """A form field may hold a list as JSON, or separated by commas."""
    if isinstance(given, str) and not given.lstrip().startswith("["):
        return tuple(part.strip() for part in given.split(",") if part.strip())
    return _parse_places(given)


RuledOutPlaces = Annotated[
    tuple[Statement | ClaimedPlace, ...], Field(max_length=MAX_RULED_OUT), BeforeValidator(_parse_places)
]

TakenAt = Annotated[tuple[AwareDatetime, ...], Field(max_length=MAX_RULED_OUT), BeforeValidator(_parse_list)]


class LocateOptions(Value):
    """Everything about a request but its pictures; the same fields travel as form, JSON or arguments."""

    n_parallel: Annotated[int, Field(ge=1, le=MAX_PARALLEL)] = Field(
        default=4, description="rollouts in parallel: an upper limit with `depth=auto`, else the exact number"
    )
    depth: Depth = Field(
        default=Depth.AUTO,
        description="amount of work; with `auto`, the service decides it from how easily the photos can be located",
    )
    budget: Annotated[Budget | None, BeforeValidator(budget_given)] = Field(
        default=None,
        description="what the request may spend: an object, or text such as `30s` or `20k-tokens,0.05usd`. It takes "
        "the place of `n_parallel` and `depth`: the service chooses both from recorded runs, or "
        "from made-up samples where its engine has none",
        exclude_if=lambda budget: budget is None,
    )
    dialect: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$")] | None = Field(
        default=None, description="dialect of the model: its prompts and form of answers; default: the server's"
    )
    hint: Annotated[str, Field(max_length=2000)] | None = Field(
        default=None, description="what you already know about the place, in any language"
    )
    tools: Annotated[tuple[Annotated[str, Field(max_length=64)], ...], Field(max_length=32)] | None = Field(
        default=None, description="names of the tools that may be called; default: all configured tools"
    )
    hide_photo_hosts: bool = Field(
        default=False,
        description="hide search results from photo sites, because their pages say where a photo was taken",
    )
    allow_region_search: bool = Field(
        default=False,
        description="allow regions of the photo, up to the whole photo, to be sent to web services that search by "
        "picture; the operator must allow it too",
    )
    target_radius_km: Annotated[float, Field(gt=0, le=20000, allow_inf_nan=False)] = Field(
        default=25.0,
        description="precision that you need, in km; `confidence` is the probability that the answer reaches it",
    )
    within: Annotated[Area | None, BeforeValidator(area_given)] = Field(
        default=None, description="an area in which the answer must lie"
    )
    not_there: RuledOutPlaces = Field(
        default=(),
        description="places where the photo was not taken: names (`Sofia`), `lat,lon,km`, countries (`BG`), areas; the "
        "answer lies in none of them",
    )
    within_km: Annotated[float, Field(gt=0, le=20000, allow_inf_nan=False)] | None = Field(
        default=None,
        description="for several photos of different places: maximum distance between any two of the places. Each "
        "photo gets its own answer in `per_photo`",
    )
    taken_at: TakenAt = Field(
        default=(), description="when each photo was taken (RFC 3339), in the order of the photos; for `max_speed_kmh`"
    )
    max_speed_kmh: Annotated[float, Field(gt=0, le=2000, allow_inf_nan=False)] | None = Field(
        default=None,
        description="maximum speed in km/h; with `taken_at` it limits the distance between the places of each "
        "two photos",
    )
    deadline_s: Annotated[float, Field(ge=0.1, le=3600, allow_inf_nan=False)] | None = Field(
        default=None,
        description="seconds after which the best answer so far is returned. Default, and the most that counts: the "
        "server's, 120 and 900 unless the operator changed them",
    )
    max_tokens_total: Annotated[int, Field(ge=16)] | None = Field(
        default=None, description="tokens that all rollouts together may use"
    )
    max_tool_calls: Annotated[int, Field(ge=0, le=1024)] | None = Field(
        default=None, description="tool calls that all rollouts and the verifier together may make"
    )
    max_cost_usd: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] | None = Field(
        default=None,
        description="maximum cost of the models for this request in US dollars, by the operator's price table",
    )
    stop: Annotated[str, Field(pattern=STOP_PATTERN)] | None = Field(
        default=None,
        description="policy by which rollouts that agree stop the others: none, quorum[:k], first:m, beta[:p], "
        "worth[:p], loss[:points]; default: the server's",
    )
    resume_grace_s: Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)] = Field(
        default=0.0, description="seconds for which the work continues after the client has disconnected"
    )
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = Field(
        default=None, description="with `stop=none`, the same seed gives the same answer"
    )
    include: Literal["none", "summary", "full"] = Field(
        default="summary", description="how much of the trajectories a JSON reply contains"
    )
    exif: Literal["ignore", "report"] = Field(
        default="ignore",
        description="`report`: also report the position that the file states; it has no effect on the answer",
    )
    claims: bool = Field(
        default=False,
        description="compare what the file claims (EXIF and XMP: position, time, zone, camera) with the answer",
    )
    verifier_questions: Annotated[int, Field(ge=0, le=MAX_QUESTIONS)] | None = Field(
        default=None,
        description="tool calls that the verifier itself may make to decide between the leading places; the server "
        "sets the default and the upper limit",
        exclude_if=lambda questions: questions is None,
    )
    diverse_first_calls: bool | None = Field(
        default=None,
        description="whether rollouts begin with different tool calls, so that together they find more; "
        "default: the server's",
        exclude_if=lambda diverse: diverse is None,
    )

    @property
    def decides_twice(self) -> bool:
        """Whether a budget is set together with options that a budget decides (`n_parallel`, `depth`)."""
        return self.budget is not None and ("n_parallel" in self.model_fields_set or self.depth is not Depth.AUTO)

    @property
    def wanted_s(self) -> float | None:
        """Seconds after which the answer is due: the smaller of `deadline_s` and the seconds of the budget; None if
        neither is set.
        """
        of_budget = None if self.budget is None else self.budget.seconds
        return min((one for one in (self.deadline_s, of_budget) if one is not None), default=None)
