"""The arguments of the tools that work on photos. How a photo is named depends on where the server runs."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints, ValidationError, create_model

from deployments.mcp.photo_arguments import NamedPhoto, Short
from geotts_client.budget import EITHER_BUDGET, Budget, budget_given
from geotts_client.check_options import checking
from geotts_client.continue_options import MAX_FACT, ContinueOptions
from geotts_client.options import MAX_RULED_OUT
from tts.domain.request import MAX_PARALLEL, REQUEST_ID, LocateOptions
from tts.errors import RequestError
from tts.geodata.area_from_text import area_in_words
from tts.geodata.countries import Countries

Place = Annotated[str, Field(min_length=1, max_length=400)]
_DEADLINE = Annotated[float, Field(ge=0.1, le=3600)]
_BUDGET = BeforeValidator(budget_given, json_schema_input_type=Budget | Short | None)
_AREA = "`IT,FR`, `lat,lon,km` or `bbox:south,west,north,east`"
_COUNTRIES = Countries()
M = TypeVar("M", bound=BaseModel)


class LocateArguments(NamedPhoto):
    """How a photo is to be located."""

    hint: Short | None = Field(default=None, description="What is known about the photo; a claim, checked against it.")
    within: Short | None = Field(default=None, description=f"An area the answer must lie in: {_AREA}.")
    n_parallel: Annotated[int, Field(ge=1, le=MAX_PARALLEL)] | None = Field(
        default=None, description="How many agents look at the photo, at most."
    )
    budget: Annotated[Budget | None, _BUDGET] = Field(
        default=None,
        description="What the request may spend, instead of `n_parallel`: `30s`, `20k-tokens`, `0.05usd`, or several "
        "with commas.",
    )
    deadline_s: _DEADLINE | None = Field(default=None, description="Seconds until the best answer so far is due.")
    target_radius_km: Annotated[float, Field(gt=0, le=20000)] | None = Field(
        default=None, description="The precision wanted; the confidence is the probability of it."
    )
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None

    async def options(self) -> LocateOptions:
        """The options of the request. Raises RequestError."""
        given = self.model_dump(include=set(LocateArguments.model_fields), exclude_none=True)
        options = validate_arguments(LocateOptions, await _parse_area(given))
        if options.decides_twice:
            raise RequestError(f"budget: {EITHER_BUDGET}")
        return options


class ClaimArguments(LocateArguments):
    """A photo, and where somebody says that it was taken."""

    claim: Place = Field(
        description="The place that somebody says the photo shows: a name, `lat,lon,km`, `UA`, or `bbox:…`."
    )

    async def options(self) -> LocateOptions:
        """Those of a check of the claim."""
        return _check_options(self.claim, await super().options())


class PlacesArguments(LocateArguments):
    """A photo, and places of which it may show one."""

    places: Annotated[tuple[Place, ...], Field(min_length=2, max_length=8)] = Field(
        description="2 to 8 places to compare, each as in check_claim."
    )

    async def options(self) -> LocateOptions:
        """Those of a comparison of the places."""
        return _check_options(self.places, await super().options())


class ContinueArguments(NamedPhoto):
    """An earlier request, and what is known by now. Photos are further ones of the same place; none need be named."""

    request_id: Annotated[str, StringConstraints(pattern=f"^{REQUEST_ID}$")] = Field(
        description="The `request_id` of the earlier result."
    )
    not_there: bool | Place | Annotated[tuple[Place, ...], Field(min_length=1, max_length=MAX_RULED_OUT)] | None = (
        Field(
            default=None,
            description=f"Where the photo was not taken: true for the earlier answer; else places: names, {_AREA}.",
        )
    )
    fact: Annotated[str, Field(max_length=MAX_FACT)] | None = Field(
        default=None,
        description="A new fact in words; a claim, checked against the photo. `not in Italy` rules it out.",
    )
    within: Short | None = Field(
        default=None, description=f"An area the answer must lie in: {_AREA}. It replaces the earlier one."
    )
    deadline_s: _DEADLINE | None = Field(default=None, description="Seconds until the best answer so far is due.")

    async def addition(self) -> ContinueOptions:
        """What is added to the earlier request. Raises RequestError."""
        given = self.model_dump(include=set(ContinueOptions.model_fields), exclude_none=True)
        return validate_arguments(ContinueOptions, await _parse_area(given))


def arguments_of(model: type[NamedPhoto], photo: type[NamedPhoto]) -> type[Any]:
    """The arguments of a `model`, with the photos named as in `photo`."""
    made: type[Any] = create_model(model.__name__, __base__=(model, photo))
    return made


def validate_arguments(model: type[M], given: dict[str, Any]) -> M:
    """A `model` of what was given. Raises RequestError with the wrong fields."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise RequestError(_wrong_fields_text(error)) from error


def _wrong_fields_text(error: ValidationError) -> str:
    """The wrong fields of a call, without what was given."""
    wrong = error.errors(include_url=False, include_input=False)[:5]
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}"[:300] for one in wrong)


async def _parse_area(given: dict[str, Any]) -> dict[str, Any]:
    words = given.get("within")
    if not words:
        return given
    try:
        return given | {"within": await asyncio.to_thread(area_in_words, str(words), _COUNTRIES)}
    except ValueError as error:
        raise RequestError(f"within: {error}") from error


def _check_options(claim: str | tuple[str, ...], options: LocateOptions) -> LocateOptions:
    try:
        return checking(claim, options)
    except ValidationError as error:
        raise RequestError(_wrong_fields_text(error)) from error
