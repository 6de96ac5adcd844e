"""The refusal of a request by an endpoint. Servers put the same facts into different forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

_MAX_CHARS = 600
_MAX_LINE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Refusal:
    """Status, message, and the parameter and code where the server names them; empty strings where it does not."""

    status: int
    message: str = ""
    param: str = ""
    code: str = ""

    @property
    def line(self) -> str:
        """The message as one printable line of at most 200 characters."""
        line = " ".join("".join(char if char.isprintable() else " " for char in self.message).split())
        return line if len(line) <= _MAX_LINE_CHARS else line[: _MAX_LINE_CHARS - 1] + "…"

    @classmethod
    def from_body(cls, status: int, raw: bytes) -> Refusal:
        """Read an error body.

        The forms: OpenAI's `{"error": {"message", "param", "code"}}`; a list around it (Gemini); `{"error": "text"}`
        (Ollama, LM Studio); `{"message", …}` beside `"object": "error"` (older vLLM, SGLang); FastAPI's `{"detail"}`;
        OpenRouter's `error.metadata.raw`, which holds what the provider behind it said.
        """
        try:
            body = orjson.loads(raw)
        except orjson.JSONDecodeError:
            text = raw.decode("utf-8", "replace").strip()
            return cls(status, "" if text.startswith("<") else text[:_MAX_CHARS])
        if isinstance(body, list) and body:
            body = body[0]
        if not isinstance(body, dict):
            return cls(status, str(body)[:_MAX_CHARS])
        if isinstance(detail := body.get("detail"), list) and detail and isinstance(detail[0], dict):
            return cls._from_validation_error(status, detail[0])
        error = body.get("error", body)
        if not isinstance(error, dict):
            return cls(status, str(error)[:_MAX_CHARS])
        message = _text(error.get("message")) or _text(body.get("detail")) or _text(error.get("error"))
        behind = error.get("metadata")
        if isinstance(behind, dict) and (raw_text := _text(behind.get("raw"))):
            message = f"{message}: {raw_text}"
        code = error.get("code") or error.get("type") or ""
        return cls(status, message[:_MAX_CHARS], _text(error.get("param")), str(code))

    @classmethod
    def _from_validation_error(cls, status: int, first: dict[str, Any]) -> Refusal:
        """FastAPI's first validation error: `loc` leads to the field."""
        place = [str(step) for step in first.get("loc") or () if step != "body"]
        return cls(
            status,
            f"{'.'.join(place)}: {_text(first.get('msg'))}"[:_MAX_CHARS],
            ".".join(place),
            _text(first.get("type")),
        )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
