"""How a tool call names its photo. A photo never goes through a model: a path, a URL or a ticket stands for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, create_model

from tts.domain.request import MAX_PARALLEL, LocateOptions
from tts.errors import RequestError

Short = Annotated[str, Field(max_length=2000)]


class PhotoArguments(BaseModel):
    """What all forms share: how the photo is to be located."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hint: Short | None = Field(default=None, description="What is known about the photo; a claim, checked against it.")
    within: Short | None = Field(
        default=None,
        description="An area the answer must lie in: `IT,FR`, `lat,lon,km` or `bbox:south,west,north,east`.",
    )
    n_parallel: Annotated[int, Field(ge=1, le=MAX_PARALLEL)] | None = Field(
        default=None, description="How many agents look at the photo, at most."
    )
    deadline_s: Annotated[float, Field(ge=0.1, le=3600)] | None = Field(
        default=None, description="Seconds until the best answer so far is due."
    )
    target_radius_km: Annotated[float, Field(gt=0, le=20000)] | None = Field(
        default=None, description="The precision wanted; the confidence is the probability of it."
    )
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None

    def options(self) -> dict[str, object]:
        """The options of a request that were given."""
        given = self.model_dump(exclude_none=True, exclude={"path", "url", "upload"})
        return {name: value for name, value in given.items() if name in LocateOptions.model_fields}

    def source(self) -> tuple[str, str]:
        """Which way the photo is named, and the name. Raises RequestError unless there is exactly one."""
        ways = {way: getattr(self, way, None) for way in ("path", "url", "upload")}
        given = [(way, name) for way, name in ways.items() if name]
        if len(given) != 1:
            offered = " or ".join(way for way in ways if way in type(self).model_fields)
            raise RequestError(f"name exactly one photo, by {offered}")
        return given[0]


class LocalPhotoArguments(PhotoArguments):
    """For a server that was started on the user's machine (stdio)."""

    path: Short | None = Field(default=None, description="The photo's path, inside the folders this server may read.")
    url: Short | None = Field(default=None, description="An https URL of the photo; this server fetches it.")


class RemotePhotoArguments(PhotoArguments):
    """For a service that is reached by HTTP."""

    url: Short | None = Field(default=None, description="An https URL of the photo; the service fetches it.")
    upload: Short | None = Field(
        default=None, description="The `upload_id` that `POST /uploads` gave for the photo (image bytes as the body)."
    )


Place = Annotated[str, Field(min_length=1, max_length=400)]


def claim_arguments(photo: type[PhotoArguments]) -> type[PhotoArguments]:
    """The arguments of `check_claim`, with the photo named as in `photo`."""
    about = "The place that somebody says the photo shows: a name, `lat,lon,km`, `UA`, or `bbox:…`."
    return create_model("ClaimArguments", __base__=photo, claim=(Place, Field(description=about)))


def places_arguments(photo: type[PhotoArguments]) -> type[PhotoArguments]:
    """The arguments of `compare_places`."""
    several = Annotated[tuple[Place, ...], Field(min_length=2, max_length=8)]
    about = "2 to 8 places to compare, each as in check_claim."
    return create_model("PlacesArguments", __base__=photo, places=(several, Field(description=about)))


class AllowedRoots:
    """The folders whose photos a local server reads. What a link points to must lie in them, too."""

    def __init__(self, roots: Sequence[Path], *, max_bytes: int) -> None:
        self._roots = tuple(root.expanduser().resolve() for root in roots)
        self._max_bytes = max_bytes

    async def read(self, path: str) -> bytes:
        """The bytes of a file inside the roots. Raises RequestError for any other, and says nothing about it."""
        return await asyncio.to_thread(self._read, path)

    def _read(self, path: str) -> bytes:
        where = ", ".join(map(str, self._roots))
        try:
            found = Path(path).expanduser()
            found = (found if found.is_absolute() else self._roots[0] / found).resolve()
            inside = any(found.is_relative_to(root) for root in self._roots) and found.is_file()
            if not inside:
                raise RequestError(f"there is no photo at this path inside {where}")
            with found.open("rb") as file:
                data = file.read(self._max_bytes + 1)
        except (OSError, ValueError, RuntimeError) as error:
            raise RequestError(f"there is no photo that can be read at this path inside {where}") from error
        return data
