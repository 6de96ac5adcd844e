"""The base of every domain value: immutable, closed to unknown fields, and one way to turn it into JSON.

`orjson` writes the bytes (wire and records), pydantic decides what is in them.
"""

from __future__ import annotations

from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen domain value. Equality is by content; `json_bytes()` is the canonical wire form."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")

    def jsonable(self) -> dict[str, Any]:
        """Plain JSON types, fields in declaration order."""
        return self.model_dump(mode="json")

    def json_bytes(self) -> bytes:
        return orjson.dumps(self.jsonable())
