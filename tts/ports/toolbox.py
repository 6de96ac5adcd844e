"""The port of the tools: a set of named tools that a model may call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from tts.domain.photo import Photo
from tts.domain.request import LocateOptions, RequestContext
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.value import Value


class ToolSchema(Value):
    """A tool as a model sees it.

    Attributes:
        name: what a call names; unique in a toolbox.
        description: what the model reads about the tool.
        parameters: the JSON schema of the arguments.
        sends_photo: a call sends a part of the photo to somebody else, so that the tool is only for requests that
            consent (`allow_region_search`).
        repeatable: a call changes nothing, so it may be made twice.
    """

    name: str
    description: str
    parameters: dict[str, JsonValue]
    sends_photo: bool = False
    repeatable: bool = True


class Attachment(Value):
    """Bytes of a picture that a tool made, on their way to the files of the request. Not an event.

    Attributes:
        sha256: the hash of `data`, as 64 hexadecimal digits, by which an `ImageRef` names the picture.
        media_type: the format of `data`, such as `image/png`.
        data: the bytes of the picture's file.
    """

    sha256: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may look at besides its arguments.

    Attributes:
        options: those of the request: the area, hidden photo sites, the consent to send parts of the photo.
        photo_sha256: the names of the photos where their pixels are not, as in the broker.
        request: the id of the request, and the seconds that are left.
        photos: the photos in the order of the request; empty in the broker.
    """

    request: RequestContext
    photos: tuple[Photo, ...] = ()
    options: LocateOptions = field(default_factory=LocateOptions)
    photo_sha256: tuple[str, ...] = ()

    def photo_hashes(self) -> tuple[str, ...]:
        """Name the photos, also where their pixels are not (the broker).

        Returns:
            The SHA-256 of each photo, as 64 hexadecimal digits, in the order of the request.
        """
        return self.photo_sha256 or tuple(photo.sha256 for photo in self.photos)


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call gave.

    Attributes:
        result: the success or the failure, as events have it.
        attachments: the bytes of the pictures that the result names.
    """

    result: ToolResult
    attachments: tuple[Attachment, ...] = ()


class Toolbox(Protocol):
    """Named tools. A failing call is a `ToolResult` with a failure; only a crash raises (`ToolCrashed`)."""

    def schemas(self) -> tuple[ToolSchema, ...]:
        """List the tools that may be called here, as a model sees them.

        Returns:
            One schema for each tool, in an order that does not change; each name occurs once. Empty if there are no
            tools.
        """

    async def call(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        """Run one call, within its time limit and that of the request. Cancelling it stops the tool, unless another
        caller waits for the same result.

        Args:
            call: the name and arguments as the model wrote them; neither has to be valid.
            context: the photos and options of the request, and the seconds that are left.

        Returns:
            The result with the id and the name of `call`, and the pictures that it names. It is a failure if the tool
            is unknown, the arguments are wrong, a consent is missing, the time is over or the provider fails.

        Raises:
            ToolCrashed: the tool raised something other than a ToolError.
        """
