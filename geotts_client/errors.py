"""The errors that a caller of the service can meet.

    GeoTTSError
    ├── RequestError           the caller's fault (4xx); says what to change
    │   └── NotFound           no such request, file or dialect
    ├── Overloaded             try again after `retry_after_s` (429 or 503)
    ├── RolloutsFailed         no rollout could work: engine, tools or replicas failed (503)
    │   └── UpstreamRefused    the endpoint of the model refuses what it is sent (502)
    ├── DeadlineExceeded       the time given to one call ran out
    ├── ConfigError            the configuration contradicts itself or names something that is missing
    └── ServerUnreachable      there is no service at the address

The service has more of its own in `tts.errors`. Everything here survives pickling, because it crosses processes.
"""

from __future__ import annotations

from typing import Any


class GeoTTSError(Exception):
    """Root of the tree. `detail` is safe to show to the caller: no secrets, no paths, no stack.

    Args:
        detail: one sentence for the caller.
        fields: further facts by name, such as `endpoint` or `http_status`; they must survive pickling.
    """

    code: str = "internal"
    status: int = 500

    def __init__(self, detail: str = "", **fields: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.fields = fields

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.detail, self.fields))


def _rebuild(cls: type[GeoTTSError], detail: str, fields: dict[str, Any]) -> GeoTTSError:
    return cls(detail, **fields)


class RequestError(GeoTTSError):
    """The request was refused (4xx). `detail` says why; the field `errors` names the fields that are wrong."""

    code = "invalid-request"
    status = 422


class NotFound(RequestError):
    """There is no such request, file or dialect. A request of another key counts as none."""

    code = "not-found"
    status = 404


class Overloaded(GeoTTSError):
    """The service takes no request now.

    Args:
        detail: one sentence for the caller.
        retry_after_s: seconds after which the request may be sent again.
        fields: as in `GeoTTSError`.
    """

    code = "overloaded"
    status = 503

    def __init__(self, detail: str = "the service is busy", *, retry_after_s: float = 1.0, **fields: Any) -> None:
        super().__init__(detail, retry_after_s=retry_after_s, **fields)
        self.retry_after_s = retry_after_s


class RolloutsFailed(GeoTTSError):
    """Says nothing about the photo. Field `causes` holds each `FailureCause`, `retry_after_s` when to ask again."""

    code = "rollouts-failed"
    status = 503


class UpstreamRefused(RolloutsFailed):
    """Asking again would not help: what is sent to the endpoint, or its configuration, has to change."""

    code = "upstream-refused"
    status = 502


class DeadlineExceeded(GeoTTSError):
    """The work did not end within its time limit."""

    code = "deadline-exceeded"
    status = 504


class ConfigError(GeoTTSError):
    """A setting is wrong or missing; `detail` names it."""

    code = "config"


class ServerUnreachable(GeoTTSError):
    """No service answers at the address, or the connection was lost and could not be made again."""

    code = "unreachable"
    status = 503
