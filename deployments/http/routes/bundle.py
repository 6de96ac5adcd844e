"""`GET /locate/{request_id}/bundle`: the evidence of an answer in one file."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from deployments.gateway.answer_pictures import AnswerPictures
from deployments.gateway.logged_request import logged_entries
from deployments.http.openapi import PROBLEMS
from deployments.http.replies import NO_STORE
from deployments.http.routes.runs import RequestId
from deployments.http.service import Service
from deployments.runstore import RunMeta
from deployments.wiring.bundle_replay import replay_settings
from tts.bundle.bundle_files import entries_of
from tts.bundle.zip_archive import pack
from tts.domain.events import parse_event
from tts.domain.trajectory import fold
from tts.errors import NotFound

_ZIP_OPENAPI = {"responses": {"200": {"content": {"application/zip": {"schema": {"type": "string"}}}}}}


def add_bundle(app: FastAPI, service: Service, pictures: AnswerPictures) -> None:
    """Add the route to `app`."""
    router = APIRouter(prefix="/locate/{request_id}", tags=["runs"], responses=PROBLEMS)

    @router.get("/bundle", openapi_extra=_ZIP_OPENAPI, operation_id="bundle", response_class=Response)
    async def bundle(request: Request, request_id: RequestId) -> Response:
        """The evidence of an answer as a canonical zip file: clean photo, events, tool tape, answer, report, and
        the data for a replay. The status is 404 until there is an answer."""
        meta = await service.gateway.meta(request_id, service.caller(request))
        data = await _make_bundle(service, meta, pictures)
        headers = {**NO_STORE, "Content-Disposition": f'attachment; filename="{request_id}.zip"'}
        return Response(data, media_type="application/zip", headers=headers)

    app.include_router(router)


async def _make_bundle(service: Service, meta: RunMeta, pictures: AnswerPictures) -> bytes:
    gateway = service.gateway
    lines = [entry.payload for entry in await logged_entries(gateway.store, meta.request_id)]
    run = fold(map(parse_event, lines))
    if run.answer is None or run.stop_reason is None:
        raise NotFound(
            "there is no bundle: the request " + ("has not ended" if run.stop_reason is None else "has no answer")
        )
    photos = await _stored_files(service, meta.request_id, list(meta.photos))
    shown = {
        image.sha256 for one in run.trajectories for result in one.results for image in result.images if not image.box
    }
    files = await _stored_files(service, meta.request_id, sorted(shown - photos.keys()))
    report = await pictures.report(run, photos.get(meta.photos[0]) if meta.photos else None)
    settings = replay_settings(service.args, gateway.ports.identity, meta.options)
    return await asyncio.to_thread(lambda: pack(entries_of(lines, photos, files, settings, report)))


async def _stored_files(service: Service, request_id: str, names: list[str]) -> dict[str, bytes]:
    found = {name: await service.gateway.store.file(request_id, name) for name in names}
    return {name: one.data for name, one in found.items() if one is not None}
