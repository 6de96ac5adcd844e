"""What to ask an endpoint about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask next: a path relative to the base URL, or from the root of the server. With a body it is posted."""

    path: str
    body: dict[str, Any] | None = None

    @property
    def method(self) -> str:
        """`POST` when there is a body, else `GET`."""
        return "GET" if self.body is None else "POST"
