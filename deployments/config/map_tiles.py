"""Further maps for the page: tile servers that an operator has or may use."""

from __future__ import annotations

import re
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from tts.domain.value import Value

_URL_FIELDS: Final = ("{z}", "{x}", "{y}")


class TileSource(Value):
    """A tile server in the XYZ scheme. When a user chooses its map, the browser asks it for the area that is shown."""

    name: Annotated[str, Field(min_length=1, max_length=40)] = Field(
        description="name of the map on the page, such as Streets"
    )
    url: str = Field(
        description="URL of a tile, such as https://tiles.example/{z}/{x}/{y}.png; {s} in the host stands for a, b or c"
    )
    attribution: str = Field(default="", description="owner of the map data; the page shows it below the map")
    max_zoom: Annotated[int, Field(ge=1, le=22)] = Field(
        default=19, description="highest zoom level of the tile server"
    )

    @field_validator("url")
    @classmethod
    def _check_template(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or any(name not in url for name in _URL_FIELDS):
            raise ValueError("a tile URL must be http(s)://host/… with {z}, {x} and {y}")
        if not re.fullmatch(r"(\{s\}\.)?[a-z0-9.-]+(:[0-9]+)?", parts.netloc):
            raise ValueError("the host of a tile URL must be a plain name; {s}. may stand before it, for several hosts")
        return url

    @property
    def origin(self) -> str:
        """Where pictures come from, as a content security policy names it."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.replace('{s}', '*')}"
