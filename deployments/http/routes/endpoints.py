"""`/endpoints`: operators list, drain and undrain the model endpoints of a running service. `geotts endpoints` calls
it.

This is not part of the interface for callers: no OpenAPI document has it, and where access needs keys, it needs an
operator's key.
"""

from __future__ import annotations

import time

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import JSONResponse, Response

from deployments.http.accept_header import require_acceptable
from deployments.http.replies import JSON, NO_STORE
from deployments.http.service import Service
from tts.domain.value import Value
from tts.errors import NotFound, RequestError
from tts.inference.openai.endpoint.orders import Orders
from tts.inference.openai.endpoint.states import STATES, same_address
from tts.net.url_secrets import bare_url


class DrainedByFile(RequestError):
    """An endpoint that the deployed file drains can only be undrained in that file."""

    code = "drained-by-file"
    status = 409


class Change(Value):
    """`url`: an address that was given to the service. Keys in it and slashes at its end are ignored."""

    url: str
    draining: bool


def add_endpoints(app: FastAPI, service: Service) -> None:
    """Add `GET /endpoints` and `POST /endpoints` to `app`; both require an operator."""
    router = APIRouter(prefix="/endpoints", include_in_schema=False, dependencies=[require_acceptable(JSON)])

    async def reply_with_endpoints(**more: bool) -> Response:
        return JSONResponse({"endpoints": await service.endpoints.describe_endpoints(), **more}, headers=NO_STORE)

    @router.get("")
    async def endpoints(request: Request) -> Response:
        """Every endpoint: its purpose, its address, its state, and who drains it."""
        service.keyring.operator(request.headers)
        return await reply_with_endpoints()

    @router.post("")
    async def change(request: Request, change: Change) -> Response:
        """Drain an endpoint, or undrain it. `heard`: all running replicas know it already."""
        service.keyring.operator(request.headers)
        known = service.endpoints.addresses
        if not any(same_address(change.url, one) for one in known):
            there = ", ".join(map(bare_url, known)) or "none"
            raise NotFound(f"{bare_url(change.url)} is not an endpoint of this service; its endpoints are: {there}")
        if not change.draining and STATES.is_drained_by_file(change.url):
            raise DrainedByFile(
                "the deployed configuration drains this endpoint: remove it from user_config, then run `serve deploy`"
            )
        others = [one for one in STATES.orders.draining if not same_address(one, change.url)]
        now = max(time.time(), STATES.orders.at + 1e-3)
        orders = Orders(at=now, draining=(*others, bare_url(change.url)) if change.draining else tuple(others))
        STATES.apply_orders(orders)
        return await reply_with_endpoints(heard=service.spread is None or await service.spread(orders))

    app.include_router(router)
