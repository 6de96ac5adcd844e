"""`GET /locate/{request_id}/map` and `/report`: the map and the report of an answer, drawn on request."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request
from starlette.responses import Response

from deployments.gateway.answer_pictures import MEDIA_TYPE, AnswerPictures, MapView
from deployments.http.openapi import FILE, PROBLEMS
from deployments.http.routes.runs import PICTURE_HEADERS, RequestId
from deployments.http.service import Service
from tts.errors import NotFound

_MAP_OPENAPI: dict[str, Any] = {
    "responses": {
        **FILE["responses"],
        "204": {"description": "`view=world`: the map of the answer already shows this part of the world"},
    }
}


_REPORT_OPENAPI: dict[str, Any] = {
    "responses": {"200": {"description": "The report", "content": {"text/html": {"schema": {"type": "string"}}}}}
}


def add_map(app: FastAPI, service: Service, pictures: AnswerPictures) -> None:
    """Add `map` and `report` under `/locate/{request_id}` to `app`; `pictures` draws them."""
    router = APIRouter(prefix="/locate/{request_id}", tags=["runs"], responses=PROBLEMS)
    gateway = service.gateway

    @router.get("/map", openapi_extra=_MAP_OPENAPI, operation_id="map", response_class=Response)
    async def answer_map(
        request: Request, request_id: RequestId, view: Annotated[MapView, Query()] = "answer"
    ) -> Response:
        """The answer on a map, as JPEG: its point, the circles of 50 % and 90 %, and the other candidates. With
        `view=world`, the reply is a small map that shows in which part of the world the point lies. The status is 404
        until there is an answer, and if the answer has no point."""
        await gateway.meta(request_id, service.caller(request))
        answer = (await gateway.current_run(request_id)).answer
        if answer is None or answer.point is None:
            raise NotFound(
                "there is no map: " + ("there is no answer yet" if answer is None else "the answer has no point")
            )
        picture = await pictures.draw(answer, view)
        if picture is None:
            return Response(status_code=204, headers=PICTURE_HEADERS)
        return Response(picture, media_type=MEDIA_TYPE, headers=PICTURE_HEADERS)

    @router.get("/report", openapi_extra=_REPORT_OPENAPI, operation_id="report", response_class=Response)
    async def report(request: Request, request_id: RequestId) -> Response:
        """The answer as one HTML file that can be stored and sent: maps, photo, evidence, and the steps of the
        rollouts. The status is 404 until there is an answer."""
        meta = await gateway.meta(request_id, service.caller(request))
        run = await gateway.current_run(request_id)
        if run.answer is None:
            raise NotFound("there is no report: there is no answer yet")
        photo = await gateway.store.file(request_id, meta.photos[0]) if meta.photos else None
        page = await pictures.report(run, photo.data if photo is not None else None)
        named = {"Content-Disposition": f'attachment; filename="{request_id}.html"'}
        return Response(page, media_type="text/html", headers={**PICTURE_HEADERS, **named})

    app.include_router(router)
