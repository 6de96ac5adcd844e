"""Errors as RFC 9457 problem+json. The detail is written for the caller; a reply contains nothing else of an
exception."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from deployments.http.head_rule import answers_head
from tts.api.schema import PROBLEM_BASE, Problem, problem_of
from tts.errors import GeoTTSError, NotFound, Overloaded

PROBLEM_TYPE = "application/problem+json"
OPENAI_PATH = "/v1/"
_NOT_FOUND_DETAILS = {
    "request_id": "no such request: an id is loc_ and 20 hexadecimal digits",
    "response_id": "no such response: an id is resp_ and 20 hexadecimal digits",
    "sha256": "this request has no such file",
}
_METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")


def problem(
    code: str,
    status: int,
    detail: str,
    *,
    instance: str | None = None,
    errors: tuple[dict[str, str], ...] = (),
    headers: dict[str, str] | None = None,
) -> Response:
    """Under /v1 the body also has the `error` object that OpenAI's clients look for (an extension member)."""
    return problem_reply(problem_of(code, status, detail, instance=instance, errors=errors), headers)


def problem_reply(found: Problem, headers: dict[str, str] | None = None) -> Response:
    """As `problem`, for one that is made."""
    body: dict[str, Any] = found.jsonable()
    instance, errors = found.instance, found.errors
    if instance is not None and instance.startswith(OPENAI_PATH):
        code = found.type.removeprefix(PROBLEM_BASE)
        param = errors[0]["field"] if errors else None
        body["error"] = {"message": found.detail, "type": code, "code": code, "param": param}
    return Response(orjson.dumps(body), found.status, headers, media_type=PROBLEM_TYPE)


def problem_for(error: GeoTTSError, *, instance: str | None = None) -> Response:
    """Our own errors; what went wrong inside keeps its detail to the log."""
    headers: dict[str, str] = {}
    if isinstance(error, Overloaded):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s)))
    elif error.status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = "2"
    elif error.status == HTTPStatus.REQUEST_TIMEOUT:
        headers["Connection"] = "close"  # RFC 9110, section 15.5.9: the rest of the body would come as slowly
    elif error.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    inside = error.status == HTTPStatus.INTERNAL_SERVER_ERROR
    detail = "the request could not be served" if inside else error.detail
    errors = tuple(error.fields.get("errors", ()))
    return problem(error.code, error.status, detail, instance=instance, errors=errors, headers=headers)


async def reply_to_unexpected_error(request: Request, error: Exception) -> Response:
    """An unexpected error: the server's log has it, the caller gets no detail."""
    return problem("internal", 500, "something went wrong here; the log has the details", instance=request.url.path)


def install_errors(app: FastAPI) -> None:
    """Whatever is raised becomes a problem; a stack never leaves the process."""

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, GeoTTSError)
        return problem_for(error, instance=request.url.path)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "http")
        headers = dict(error.headers) if error.headers else {}
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = _allowed_methods(request)
        return problem(code, error.status_code, str(error.detail), instance=request.url.path, headers=headers)

    async def validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        named = [str(e["loc"][1]) for e in error.errors() if e["loc"][0] == "path"]
        if named:  # a name that nothing can have: there is nothing under it
            missing = _NOT_FOUND_DETAILS.get(named[0], "there is nothing under this name")
            return problem_for(NotFound(missing), instance=request.url.path)
        errors = tuple(
            {"field": ".".join(str(part) for part in e["loc"][1:])[:100], "problem": str(e["msg"])[:300]}
            for e in error.errors()
        )
        summary = "; ".join(f"{e['field']}: {e['problem']}" for e in errors[:5])
        detail = f"the request is not valid: {summary}"
        return problem("invalid-request", 422, detail, instance=request.url.path, errors=errors)

    app.add_exception_handler(GeoTTSError, ours)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, validation)
    app.add_exception_handler(Exception, reply_to_unexpected_error)


def _allowed_methods(request: Request) -> str:
    """All that works at this path: one route may have `GET` and the next `DELETE`."""
    there = {
        method
        for method in _METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in request.app.routes)
    }
    if "GET" in there and answers_head(request.url.path):
        there.add("HEAD")
    return ", ".join(sorted(there))
