"""Every error the project raises on purpose.

    GeoTTSError
    ├── RequestError           the caller's fault (4xx); says what to change
    │   ├── PhotoError         the bytes are not a photo we accept
    │   └── NotFound           no such request, file or dialect
    ├── Overloaded             try again after `retry_after_s` (429 or 503)
    ├── RolloutsFailed         no rollout could work: engine, tools or replicas failed (503)
    │   └── UpstreamRefused    the endpoint refuses what it is sent (502)
    ├── DeadlineExceeded       the time given to one port call ran out
    ├── MoneySpent             verifier or router did not ask a model; the request goes on without it
    ├── ConfigError            the configuration contradicts itself or names something that is missing
    ├── DataError              a data file is missing, corrupt or of another version
    ├── RolloutError           ends one rollout, is recorded, and leaves its siblings alone
    │   ├── ModelError         the engine failed
    │   │   └── ReplicaLost    the replica that ran it died
    │   ├── ToolCrashed        a tool raised something that is not a `ToolError`
    │   └── ReaderFailed       the sign reader raised something; without rollouts it ends the request
    ├── ToolError              shown to the model as the result of its call
    ├── FetchError             a URL that could not or must not be fetched; `kind` says why
    └── FatalError             this replica cannot go on; its health check fails and it is replaced

A spent budget of a rollout is a `StopReason`, never an error. Everything here survives pickling, because it crosses
processes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, Self

from geotts_client.errors import ConfigError as ConfigError
from geotts_client.errors import DeadlineExceeded as DeadlineExceeded
from geotts_client.errors import GeoTTSError as GeoTTSError
from geotts_client.errors import NotFound as NotFound
from geotts_client.errors import Overloaded as Overloaded
from geotts_client.errors import RequestError as RequestError
from geotts_client.errors import RolloutsFailed as RolloutsFailed
from geotts_client.errors import ServerUnreachable as ServerUnreachable
from geotts_client.errors import UpstreamRefused as UpstreamRefused
from geotts_client.tooling import ToolErrorKind as ToolErrorKind

_log = logging.getLogger(__name__)


class PhotoError(RequestError):
    """`reason` names what is wrong with the bytes (see `PhotoProblem` in `tts.domain.photo`)."""

    code = "invalid-photo"
    status = 422

    @classmethod
    def from_reason(cls, reason: str, detail: str, status: int = 422) -> Self:
        """The error for a reason of `PhotoProblem`, with the HTTP status of its reply."""
        error = cls(detail, reason=reason)
        error.status = status
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_reason, (self.fields.get("reason", ""), self.detail, self.status))


class DataError(GeoTTSError):
    """A data file is missing, corrupt or of another version."""

    code = "data"


class MoneySpent(GeoTTSError):
    """A model was not asked, because the money limit of the request is used up."""

    code = "money-spent"


class RolloutError(GeoTTSError):
    """Ends one rollout, is recorded, and leaves its siblings alone."""

    code = "rollout"
    status = 503


class ModelError(RolloutError):
    """The engine failed. With the field `transient` the turn is tried once more."""

    code = "model"


class ReplicaLost(ModelError):
    """The replica that ran the call died or was never there."""

    code = "replica-lost"


class GivenAway(ReplicaLost):
    """This process must not go on: its work may have been given to another one."""


class ToolCrashed(RolloutError):
    """A tool raised something that is not a `ToolError`."""

    code = "tool-crashed"


class ReaderFailed(RolloutError):
    """The sign reader could not read a photo. It says nothing about the photo, which was decoded before."""

    code = "reader-failed"


class FatalError(GeoTTSError):
    """This process or replica cannot go on. Raised by a health check, it gets the replica replaced."""

    code = "fatal"


class ToolError(GeoTTSError):
    """A failure the model can react to. `detail` is written for the model."""

    code = "tool"

    def __init__(self, detail: str = "", *, kind: ToolErrorKind = ToolErrorKind.UNAVAILABLE, **fields: Any) -> None:
        super().__init__(detail, kind=kind, **fields)
        self.kind = ToolErrorKind(kind)


class FetchErrorKind(StrEnum):
    """Why nothing came of a fetch. The first four are about the URL, the others about what answered."""

    BAD_URL = "bad_url"
    REFUSED = "refused"
    DNS = "dns"
    REDIRECTS = "redirects"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    STATUS = "status"
    TOO_LARGE = "too_large"
    BAD_CONTENT = "bad_content"
    BROKEN = "broken"


class FetchError(GeoTTSError):
    """A fetch that failed. `http_status` and `retry_after_s` are set for kind STATUS."""

    code = "fetch"
    status = 422

    def __init__(
        self,
        detail: str = "",
        *,
        kind: FetchErrorKind = FetchErrorKind.BROKEN,
        http_status: int = 0,
        retry_after_s: float | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(detail, kind=kind, http_status=http_status, retry_after_s=retry_after_s, **fields)
        self.kind = FetchErrorKind(kind)
        self.http_status = http_status
        self.retry_after_s = retry_after_s


@contextmanager
def boundary(error: type[GeoTTSError], what: str) -> Iterator[None]:
    """Let our own errors and cancellation through; turn anything else into `error`, logged with its traceback.

    The only place in the project that turns an `except Exception` into another error. The detail names the type of the
    original only: its message may carry secrets or paths.
    """
    try:
        yield
    except GeoTTSError:
        raise
    except Exception as unexpected:
        _log.exception("%s failed", what)
        raise error(f"{what} failed: {type(unexpected).__name__}") from unexpected
