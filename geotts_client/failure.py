"""The failure of a rollout: the part that failed, what it reported, and what to do about it.

A failure is about the service, never about the photo: a model that says it does not know has answered.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from geotts_client.errors import GeoTTSError
from geotts_client.value import Value

_LONGEST_DETAIL = 500
_ERROR_FIELDS = ("endpoint", "http_status", "retry_after_s", "mend", "about")
_TEMPORARY_STATUSES = frozenset({408, 409, 425})  # client errors (RFC 9110, RFC 8470) that pass by themselves


class RolloutFailure(Value):
    """What failed, and what to do about it."""

    code: str = Field(
        description="the part that failed: `model` or `silent` (the engine), `overloaded`, `replica-lost`, "
        "`tool-crashed`, `reader-failed`, `tools-failed` (no call of a tool was served), `not-started`",
    )
    detail: str = Field(description="what happened, in the words of the endpoint if it sent any")
    endpoint: str = Field(
        default="", description="address of the engine, without secrets; empty if the engine runs in this process"
    )
    http_status: int | None = Field(default=None, description="HTTP status of the endpoint's reply")
    retry_after_s: float | None = Field(
        default=None, description="seconds until the endpoint takes the next request, if it states them"
    )
    mend: str = Field(default="", description="what to do about it")
    about: str = Field(default="", description="`context` if the conversation was too long; else empty")

    @classmethod
    def from_error(cls, error: GeoTTSError) -> RolloutFailure:
        """Describe an error that ended a rollout.

        Args:
            error: its code, the first 500 characters of its detail, and of its `fields` those that a failure has.

        Returns:
            The failure; a field that the error does not state has its default.
        """
        known = {name: error.fields[name] for name in _ERROR_FIELDS if name in error.fields}
        return cls(code=error.code, detail=error.detail[:_LONGEST_DETAIL], **known)

    @property
    def is_refusal(self) -> bool:
        """Whether the endpoint refuses the request itself, so that repeating it does not help."""
        status = self.http_status
        return self.code == "model" and status is not None and 400 <= status < 500 and status not in _TEMPORARY_STATUSES

    @property
    def text(self) -> str:
        """The detail, after the address of the endpoint if there is one."""
        return f"{self.endpoint}: {self.detail}" if self.endpoint else self.detail


class FailureCause(RolloutFailure):
    """A failure that several rollouts share."""

    rollouts: Annotated[int, Field(ge=0)] = Field(description="number of rollouts that ended with it")
