"""Turns what the service says of a failure, in a reply or in a stream, into the exception that the caller gets."""

from __future__ import annotations

import httpx
from pydantic import ValidationError

from geotts_client.errors import (
    GeoTTSError,
    NotFound,
    Overloaded,
    RequestError,
    RolloutsFailed,
    UpstreamRefused,
)
from geotts_client.events import Failed
from geotts_client.replies import PROBLEM_BASE, Problem

_PROXY_FAILURES = (500, 502, 504)  # 503 is a refusal, and says when to try again
_FAILURES_BY_CODE: dict[str, type[RolloutsFailed]] = {kind.code: kind for kind in (RolloutsFailed, UpstreamRefused)}


def error_of(failure: Failed) -> GeoTTSError:
    """The exception for the `error` event of a stream.

    Args:
        failure: the event, as it came.

    Returns:
        Overloaded, RolloutsFailed or UpstreamRefused by the code; for any other code a GeoTTSError that has it.
    """
    if failure.code == Overloaded.code:
        return Overloaded(failure.detail, retry_after_s=failure.retry_after_s or 1.0)
    kind = _FAILURES_BY_CODE.get(failure.code, GeoTTSError)
    error = kind(failure.detail, causes=failure.causes, retry_after_s=failure.retry_after_s)
    error.code = failure.code
    error.status = failure.status
    return error


def refusal(status: int, body: bytes, headers: httpx.Headers) -> GeoTTSError:
    """The exception for a reply with an error status.

    Args:
        status: HTTP status, 400 or more.
        body: body of the reply: a problem (RFC 9457) if the service wrote it.
        headers: headers of the reply; `Retry-After` is read.

    Returns:
        Its `status` is that of the reply. Without a problem it says only what the status was.
    """
    try:
        problem = Problem.model_validate_json(body, extra="ignore")
        code, detail, errors = problem.type.removeprefix(PROBLEM_BASE), problem.detail, problem.errors
        causes = problem.causes
    except ValidationError:
        code, detail, errors, causes = "", f"the server answered {status}", (), ()
    if (failed := _FAILURES_BY_CODE.get(code)) is not None:
        return failed(detail, causes=causes, retry_after_s=_parse_seconds(headers.get("retry-after", "")))
    if status in (429, 503):
        overloaded = Overloaded(detail, retry_after_s=_parse_seconds(headers.get("retry-after", "")))
        overloaded.status = status
        return overloaded
    kind = NotFound if status == 404 else RequestError if status < 500 else GeoTTSError
    error = kind(detail, errors=errors)
    error.status = status
    return error


def is_of_a_proxy(status: int, headers: httpx.Headers) -> bool:
    """Tell whether something before the service failed: what the service itself answers to a failure is a problem.

    Args:
        status: HTTP status of the reply, of any kind.
        headers: headers of the reply; `Content-Type` is read.

    Returns:
        True for a status 500, 502 or 504 without a problem (RFC 9457). The request may then be sent again.
    """
    return status in _PROXY_FAILURES and "problem+json" not in headers.get("content-type", "")


def _parse_seconds(stated: str) -> float:
    try:
        return max(0.0, float(stated))
    except ValueError:
        return 1.0
