"""What Serve must not see, and what it must not add."""

import httpx
import pytest
from ray.serve._private.http_util import RequestIdMiddleware
from starlette.responses import JSONResponse, Response

from deployments.http.middleware.ray_headers import DropServeHeaders


async def echo(scope, receive, send):
    names = sorted(name.decode() for name, _ in scope["headers"])
    await JSONResponse(names, headers={"X-Request-Id": "loc_ours", "Vary": "Accept"})(scope, receive, send)


async def reply_without_id(scope, receive, send):
    await Response(headers={"Set-Cookie": "a=1"})(scope, receive, send)


async def get_from(app, **headers):
    transport = httpx.ASGITransport(DropServeHeaders(RequestIdMiddleware(app)))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
        return await client.get("/")


@pytest.mark.parametrize("name", ["X-Request-Timeout-Seconds", "x_request_disconnect_disabled", "X-Session-Id"])
async def test_headers_that_steer_serve_are_dropped(name):
    seen = (await get_from(echo, **{name: "1", "Accept-Language": "en"})).json()
    assert "accept-language" in seen
    assert name.lower() not in seen


async def test_a_reply_has_one_x_request_id_which_geotts_has_set():
    reply = await get_from(echo)
    assert reply.headers.get_list("x-request-id") == ["loc_ours"]
    assert reply.headers["vary"] == "Accept"


async def test_a_reply_without_x_request_id_gets_the_one_of_ray_serve():
    assert len((await get_from(reply_without_id)).headers.get_list("x-request-id")) == 1
