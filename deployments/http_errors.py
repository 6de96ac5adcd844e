"""Errors as RFC 9457 problem+json. Details are written for the caller; nothing else of an exception gets out."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import Response

from tts.api.schema import PROBLEM_BASE, Problem
from tts.errors import GeoTTSError, Overloaded, RequestError

PROBLEM_TYPE = "application/problem+json"


def problem(
    code: str,
    status: int,
    detail: str,
    *,
    instance: str | None = None,
    errors: tuple[dict[str, str], ...] = (),
    headers: dict[str, str] | None = None,
) -> Response:
    body = Problem(
        type=PROBLEM_BASE + code,
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        instance=instance,
        errors=errors,
    )
    return Response(body.json_bytes(), status, headers, media_type=PROBLEM_TYPE)


def problem_for(error: GeoTTSError, *, instance: str | None = None) -> Response:
    """Our own errors; those that are not the caller's doing keep their detail to the log."""
    if isinstance(error, Overloaded):
        headers = {"Retry-After": str(max(1, round(error.retry_after_s)))}
        return problem(error.code, error.status, error.detail, instance=instance, headers=headers)
    detail = (
        error.detail if isinstance(error, RequestError) or error.status < 500 else "the request could not be served"
    )
    return problem(error.code, error.status, detail, instance=instance, errors=tuple(error.fields.get("errors", ())))
