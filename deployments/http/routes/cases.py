"""`/cases`: requests that a caller keeps together, with a title and notes. The operator limits how long."""

from __future__ import annotations

from typing import Annotated, TypeVar

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi import Path as InPath
from starlette.responses import Response

from deployments.gateway.cases import Cases
from deployments.http.accept_header import require_acceptable
from deployments.http.openapi import CASE_CHANGED, CASE_CHANGED_OFTEN, CASE_FULL, CASES_FULL, PROBLEMS, body_of
from deployments.http.replies import JSON, NO_STORE
from deployments.http.request_body import read_json, value_from
from deployments.http.routes.runs import RequestId
from deployments.http.service import Service
from tts.api.cases import AddedRun, Case, CaseChange, CaseDraft, CaseList, ErasedCase
from tts.domain.value import Value

CaseId = Annotated[str, InPath(pattern=r"^case_[0-9a-f]{20}$", examples=["case_6f1d0c9a3b2e4d5f7a81"])]
V = TypeVar("V", bound=Value)
_CASE_EXAMPLE = {"title": "Market square", "tags": ["june"], "claims": [{"text": "filmed in Lugano"}]}
_DRAFT_BODY = body_of(CaseDraft, _CASE_EXAMPLE)
_CHANGE_BODY = body_of(CaseChange, {**_CASE_EXAMPLE, "notes": "asked by the desk", "version": 1})
_ADDED_RUN_BODY = body_of(AddedRun, {"request_id": "{request_id}", "title": "Photo 1"})


def add_cases(app: FastAPI, service: Service, cases: Cases) -> None:
    """Add the routes under `/cases` to `app`."""
    router = APIRouter(prefix="/cases", tags=["cases"], responses=PROBLEMS, dependencies=[require_acceptable(JSON)])

    @router.post(
        "",
        response_model=Case,
        status_code=201,
        responses=CASES_FULL,
        openapi_extra=_DRAFT_BODY,
        operation_id="create_case",
    )
    async def create(request: Request) -> Response:
        """Create a case. Its photos are those of the requests that are added to it."""
        caller = await service.caller_within_rate(request)
        case = await cases.create(await _read_body(request, service, CaseDraft), caller)
        return _json_response(case, 201, {"Location": f"/cases/{case.case_id}"})

    @router.get("", response_model=CaseList, operation_id="list_cases")
    async def list_cases(
        request: Request,
        q: Annotated[str, Query(max_length=200)] = "",
        tag: Annotated[str, Query(max_length=40)] = "",
    ) -> Response:
        """The cases of the caller, the latest change first. With `q`, the reply has only the cases that contain all of
        these words in title, notes, statements, tags, titles of requests or places. With `tag`, it has only the cases
        with exactly this tag."""
        return _json_response(CaseList(cases=await cases.list(service.caller(request), words=q, tag=tag)))

    @router.get("/{case_id}", response_model=Case, responses=CASE_CHANGED_OFTEN, operation_id="case")
    async def case(request: Request, case_id: CaseId) -> Response:
        """A case, with the present state of its requests."""
        return _json_response(await cases.case(case_id, service.caller(request)))

    @router.put(
        "/{case_id}", response_model=Case, responses=CASE_CHANGED, openapi_extra=_CHANGE_BODY, operation_id="save_case"
    )
    async def save(request: Request, case_id: CaseId) -> Response:
        """Replace title, notes, tags and statements. The status is 409 if `version` is not the current one. Then read
        the case again."""
        caller = service.caller(request)
        return _json_response(await cases.save(case_id, await _read_body(request, service, CaseChange), caller))

    @router.post(
        "/{case_id}/runs",
        response_model=Case,
        responses=CASE_FULL,
        openapi_extra=_ADDED_RUN_BODY,
        operation_id="add_to_case",
    )
    async def add(request: Request, case_id: CaseId) -> Response:
        """Add a request to the case, with its photos and its answer. The request may still be running."""
        caller = service.caller(request)
        return _json_response(await cases.add(case_id, await _read_body(request, service, AddedRun), caller))

    @router.delete(
        "/{case_id}/runs/{request_id}",
        response_model=Case,
        responses=CASE_CHANGED_OFTEN,
        operation_id="erase_from_case",
    )
    async def erase_run(request: Request, case_id: CaseId, request_id: RequestId) -> Response:
        """Remove a request from the case, and erase the request and its photos in every store."""
        return _json_response(await cases.erase_run(case_id, request_id, service.caller(request)))

    @router.delete("/{case_id}", response_model=ErasedCase, operation_id="erase_case")
    async def erase(request: Request, case_id: CaseId) -> Response:
        """Erase the case, its requests and their photos in every store. The reply comes when this is done."""
        return _json_response(await cases.erase(case_id, service.caller(request)))

    app.include_router(router)


async def _read_body(request: Request, service: Service, kind: type[V]) -> V:
    return value_from(await read_json(request, service.args.gateway), kind)


def _json_response(value: Value, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(value.json_bytes(), status, media_type=JSON, headers={**NO_STORE, **(headers or {})})
