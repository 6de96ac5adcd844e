"""The comparison of a claim in a file's metadata with the answer, or with another claim of the same file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from geotts_client.value import Value


class FileCheck(Value):
    """A claim of a file and its check (`claims: true`). Anybody can write anything there, so it changes no answer."""

    photo: Annotated[int, Field(ge=0, description="counted from 0")] = 0
    about: Literal["position", "time", "zone", "camera"] = Field(
        description="what was compared: the position, the time, the offset of the clock from UTC (`zone`), or the "
        "camera",
    )
    outcome: Literal["agrees", "contradicts", "unchecked"] = Field(
        description="`unchecked`: the answer has no point to compare with"
    )
    text: str = Field(description="one sentence for a person")
