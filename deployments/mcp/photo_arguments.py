"""How a tool call names its photos. A photo never goes through a model: a path, a URL or a ticket stands for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from tts.domain.request import MAX_PHOTOS
from tts.errors import RequestError

Short = Annotated[str, Field(max_length=2000)]
_PHOTO_FIELDS = ("path", "url", "upload")
_OR_LIST = f"or a list of up to {MAX_PHOTOS} of one place"


def _to_list(given: object) -> object:
    """One photo is a list of one."""
    return (given,) if isinstance(given, str) and given else given or None


_PhotoList = Annotated[tuple[Short, ...], Field(min_length=1, max_length=MAX_PHOTOS)]
Photos = Annotated[
    tuple[Short, ...] | None,
    Field(max_length=MAX_PHOTOS),
    BeforeValidator(_to_list, json_schema_input_type=Short | _PhotoList | None),
]


class NamedPhoto(BaseModel):
    """What a call has to do with its photos; a subclass has the ways in which a photo can be named."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def names_a_photo(self) -> bool:
        """Whether any photo is named."""
        return any(getattr(self, way, None) for way in _PHOTO_FIELDS)

    def source(self) -> tuple[str, tuple[str, ...]]:
        """Which way the photos are named, and the names. Raises RequestError unless there is exactly one way."""
        given: list[tuple[str, tuple[str, ...]]]
        given = [(way, names) for way in _PHOTO_FIELDS if (names := getattr(self, way, None))]
        if len(given) != 1:
            offered = " or ".join(way for way in _PHOTO_FIELDS if way in type(self).model_fields)
            raise RequestError(f"name the photo, by {offered}; several photos of one place as a list")
        return given[0]


class LocalPhoto(NamedPhoto):
    """For a server that was started on the user's machine (stdio)."""

    path: Photos = Field(
        default=None, description=f"The photo's path, inside the folders this server may read; {_OR_LIST}."
    )
    url: Photos = Field(default=None, description=f"An https URL of the photo, which this server fetches; {_OR_LIST}.")


class RemotePhoto(NamedPhoto):
    """For a service that is reached by HTTP."""

    url: Photos = Field(default=None, description=f"An https URL of the photo, which the service fetches; {_OR_LIST}.")
    upload: Photos = Field(
        default=None,
        description=f"The `upload_id` that `POST /uploads` gave for the photo (image bytes as the body); {_OR_LIST}.",
    )


class AllowedRoots:
    """The folders whose photos a local server reads. What a link points to must lie in them, too."""

    def __init__(self, roots: Sequence[Path], *, max_bytes: int) -> None:
        self._roots = tuple(root.expanduser().resolve() for root in roots)
        self._max_bytes = max_bytes

    async def read(self, path: str) -> bytes:
        """The bytes of a file inside the roots. Raises RequestError for any other, and says nothing about it."""
        return await asyncio.to_thread(self._read_file, path)

    def _read_file(self, path: str) -> bytes:
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
