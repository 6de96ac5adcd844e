"""External MCP servers whose tools the rollouts may call."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from tts.config.units import Seconds
from tts.domain.value import Value


class McpServerConfig(Value):
    """A program that is started, or a URL; and which of its tools may be called. Nothing else of it is offered."""

    command: tuple[str, ...] = Field(
        default=(), description="program and its arguments; GeoTTS starts it, and it speaks MCP on stdio"
    )
    env: tuple[str, ...] = Field(default=(), description="names of environment variables that the program gets")
    url: Annotated[str, Field(pattern=r"^https?://")] | None = Field(
        default=None, description="URL of a server that speaks MCP over streamable HTTP"
    )
    key_env: str | None = Field(
        default=None, description="environment variable with the key that is sent to the URL as a Bearer token"
    )
    allow: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        description="names of the tools of the server that rollouts may call"
    )
    timeout_s: Seconds = Field(default=15.0, description="seconds that one call may take")
    max_bytes: Annotated[int, Field(ge=1024, le=2**26)] = Field(
        default=2**20, description="most bytes that the server may send in one call"
    )

    @model_validator(mode="after")
    def _check_transport(self) -> McpServerConfig:
        if bool(self.command) == (self.url is not None):
            raise ValueError("an MCP server needs either a command or a url")
        return self
