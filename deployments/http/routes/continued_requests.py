"""`POST /locate/{request_id}/continue`."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from deployments.gateway.arrival import Arrival, LocateBody
from deployments.http.openapi import CONTINUE, CONTINUE_PROBLEMS, NOTHING_WORKED
from deployments.http.request_body import read_addition
from deployments.http.routes.locate import started_reply
from deployments.http.routes.runs import RequestId
from deployments.http.service import Service
from tts.api.schema import LocateResponse


def add_continue(app: FastAPI, service: Service) -> None:
    """Add `POST /locate/{request_id}/continue` to `app`."""
    router = APIRouter(tags=["locate"], responses=CONTINUE_PROBLEMS)

    @router.post(
        "/locate/{request_id}/continue",
        response_model=LocateResponse,
        responses=NOTHING_WORKED,
        openapi_extra=CONTINUE,
        operation_id="continue",
    )
    async def continue_(request: Request, request_id: RequestId) -> Response:
        """Continue an earlier request: its answer is wrong, or you know more now.

        This makes a new request. Its rollouts get the findings of the earlier request, and the places that are
        ruled out, with the reasons. Results of tools are kept: a rollout that repeats a call gets the kept result.
        The reply has the form of that of `/locate`. `answer.changed` says how the answer changed. The earlier
        request does not change, and you may erase it.
        """

        async def read(arrival: Arrival) -> LocateBody:
            await service.gateway.meta(request_id, arrival.caller)  # before the body: nobody else's is read for
            asked, photos = await read_addition(request, service.args.gateway, arrival.fetch_from(service.fetch))
            return await service.gateway.continuation(request_id, asked, arrival.caller, photos)

        return await started_reply(request, service, read)

    app.include_router(router)
