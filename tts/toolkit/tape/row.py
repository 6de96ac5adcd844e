"""One recorded call, and the name by which it is found again."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson
from pydantic import JsonValue, ValidationError, field_validator

from tts.domain.geo import LatLon
from tts.domain.photo import Box
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.value import Value
from tts.geodata.datum import to_wgs84
from tts.ports.toolbox import Attachment, ToolContext, ToolOutcome, ToolSchema

TAPE_VERSION = 1


class TapeHead(Value):
    """The first line of a tape: its version, and the tools as the model saw them."""

    tape: int = TAPE_VERSION
    schemas: tuple[ToolSchema, ...] = ()


class TapeRow(Value):
    """A call with its result and pictures. `key` is made of the tool and its arguments; it does not depend on the
    caller."""

    key: str
    name: str
    arguments: dict[str, JsonValue]
    photos: tuple[str, ...] = ()
    result: ToolResult
    attachments: tuple[Attachment, ...] = ()

    @field_validator("result", mode="before")
    @classmethod
    def _convert_to_wgs84(cls, result: Any) -> Any:
        """A tape may have been recorded when facts still had the datum of their provider."""
        if not isinstance(result, dict) or not isinstance(result.get("facts"), list):
            return result
        return {**result, "facts": [_fact_in_wgs84(fact) for fact in result["facts"]]}

    @classmethod
    def from_outcome(cls, call: ToolCall, context: ToolContext, outcome: ToolOutcome) -> TapeRow:
        """Make the row to record for a call. The id of the call is left out, as a replay has others.

        Args:
            call: its arguments are recorded as they were written.
            context: the photos and options of the request, as in `row_key`; the row has the hashes of all photos.
            outcome: a result or a failure, with its pictures.

        Returns:
            The row, under the key by which a replay finds it.
        """
        return cls(
            key=row_key(call, context),
            name=call.name,
            arguments=call.arguments,
            photos=context.photo_hashes(),
            result=outcome.result.model_copy(update={"call_id": ""}),
            attachments=outcome.attachments,
        )

    def replay(self, call: ToolCall) -> ToolOutcome:
        """Replay the row for a call.

        Args:
            call: its id is in the result.

        Returns:
            The outcome as it was recorded, with the id of this call.
        """
        return ToolOutcome(self.result.model_copy(update={"call_id": call.id}), self.attachments)

    def box(self) -> Box | None:
        """Find the region that was asked about.

        Returns:
            The region, in fractions of the photo's sides; None if the call has none, or none that a photo can have.
        """
        bbox: Any = self.arguments.get("bbox")
        if not isinstance(bbox, list) or len(bbox) != 4:
            return None
        x0, y0, x1, y1 = bbox
        photo: Any = self.arguments.get("photo", 0)
        try:
            return Box(x0=x0, y0=y0, x1=x1, y1=y1, photo=photo)
        except ValidationError:  # the call was recorded as it was made, and it failed for this reason
            return None


def _fact_in_wgs84(fact: Any) -> Any:
    """The JSON object of a fact. A point in GCJ-02 is converted, anything else stays as it is."""
    if not isinstance(fact, dict) or fact.get("datum") != "GCJ-02":
        return fact
    point = fact.get("point")
    converted = None if point is None else to_wgs84(LatLon.model_validate(point)).jsonable()
    return {**fact, "point": converted, "datum": "WGS-84"}


def row_key(call: ToolCall, context: ToolContext) -> str:
    """Hex digest over the tool, its arguments as written, the photos, and what else the result depends on.

    Args:
        call: its name and arguments count, its id does not.
        context: all photos of the request, its area, and whether photo hosts are hidden.

    Returns:
        SHA-256 as 64 hexadecimal digits.
    """
    area = context.options.within
    within = area.model_dump(mode="json") if area is not None else None
    asked = [call.name, call.arguments, context.photo_hashes(), within, context.options.hide_photo_hosts, False]
    return hashlib.sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).hexdigest()
