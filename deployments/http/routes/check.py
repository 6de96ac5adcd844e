"""`POST /check`."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from deployments.http.openapi import CHECK, NOTHING_WORKED, PROBLEMS
from deployments.http.routes.locate import start_and_reply
from deployments.http.service import Service
from tts.api.schema import LocateResponse
from tts.domain.claim import CheckOptions


def add_check(app: FastAPI, service: Service) -> None:
    """Add `POST /check` to `app`. Everything after the start of the request is under `/locate/{request_id}`."""
    router = APIRouter(tags=["check"], responses=PROBLEMS)

    @router.post(
        "/check",
        response_model=LocateResponse,
        responses=NOTHING_WORKED,
        openapi_extra=CHECK,
        operation_id="check",
    )
    async def check(request: Request) -> Response:
        """Was this photo taken where somebody says?

        The request has the fields of `/locate`, and `claim`. The reply has the form of that of `/locate`, with the
        result of the check in `answer.check`. The claim is never evidence: with the same seed and `stop=none`,
        `/locate` gives the same answer.
        """
        return await start_and_reply(request, service, CheckOptions)

    app.include_router(router)
