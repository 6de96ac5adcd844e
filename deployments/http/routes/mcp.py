"""`POST /mcp` and `POST /uploads`: GeoTTS for clients of the Model Context Protocol.

There are no sessions: each message is complete, so any gateway can serve it. Keys, Host, Origin, and the size and time
of a body are checked as for every other request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from deployments.gateway.answer_pictures import AnswerPictures
from deployments.gateway.auth import Caller
from deployments.gateway.uploads import Ticket, Uploads
from deployments.http.accept_header import require_acceptable
from deployments.http.openapi import PROBLEMS
from deployments.http.replies import JSON, NO_STORE
from deployments.http.request_body import read_body
from deployments.http.service import Service
from deployments.mcp.photo_arguments import RemotePhoto
from deployments.mcp.tool_execution import McpTools, ToolboxSource
from tts.errors import NotFound

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_MAX_MESSAGE_BYTES = 256 * 1024
_NO_SDK_TEXT = "this service has no MCP server: pip install 'geotts[mcp]'"
_UPLOAD_OPENAPI: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"image/*": {"schema": {"type": "string", "contentMediaType": "application/octet-stream"}}},
    }
}
_REPLY_CONTENT = {JSON: {"schema": {"type": "object"}}, "text/event-stream": {"schema": {"type": "string"}}}
_LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
_MCP_OPENAPI: dict[str, Any] = {
    "requestBody": {"required": True, "content": {JSON: {"schema": {"type": "object"}, "example": _LIST_TOOLS}}},
    "responses": {"200": {"content": _REPLY_CONTENT}},
    "x-accept": ", ".join(_REPLY_CONTENT),  # the protocol wants both; for the example at /docs
}


class McpRoutes:
    """The routes, and the session manager of the SDK, which runs as long as the application."""

    def __init__(
        self, service: Service, uploads: Uploads, pictures: AnswerPictures, toolbox: ToolboxSource | None
    ) -> None:
        self._service = service
        self._uploads = uploads
        self._mcp_tools = McpTools(
            service.gateway,
            pictures,
            RemotePhoto,
            toolbox=toolbox,
            fetch=service.fetch,
            read_upload=self._uploads.photo,
            photos_s=service.args.gateway.fetch_timeout_s,
        )
        self._manager = self._make_manager()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """A context manager around the lifetime of the application."""
        async with AsyncExitStack() as stack:
            if self._manager is not None:
                await stack.enter_async_context(self._manager.run())
            yield
            await self._uploads.sweep(everything=True)

    def _make_manager(self) -> StreamableHTTPSessionManager | None:
        try:
            from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415  optional: `mcp`

            from deployments.mcp.server import mcp_server  # noqa: PLC0415  imports the SDK, which is optional
        except ModuleNotFoundError:
            return None

        async def caller_of(context: Any, costs: bool) -> Caller:
            request: Request = context.request
            return await self._service.caller_within_rate(request) if costs else self._service.caller(request)

        server = mcp_server(self._mcp_tools, caller_of)
        return StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=_MAX_MESSAGE_BYTES)

    def add_to(self, app: FastAPI) -> None:
        """Add the two routes to `app`."""
        router = APIRouter(tags=["mcp"], responses=PROBLEMS)

        @router.post("/mcp", openapi_extra=_MCP_OPENAPI, operation_id="mcp", response_class=Response)
        async def mcp(request: Request) -> Response:
            """The Model Context Protocol over streamable HTTP, without sessions: one JSON-RPC message in each
            request."""
            self._service.caller(request)
            if self._manager is None:
                raise NotFound(_NO_SDK_TEXT)
            body = await read_body(request, self._service.args.gateway, limit=_MAX_MESSAGE_BYTES)
            return _McpResponse(self._manager, body)

        @router.post(
            "/uploads",
            status_code=201,
            response_model=Ticket,
            openapi_extra=_UPLOAD_OPENAPI,
            operation_id="upload",
            dependencies=[require_acceptable(JSON)],
        )
        async def upload(request: Request) -> Response:
            """Upload a photo (the body), and get a ticket that names it in tool calls. The ticket is valid for
            10 minutes, with the same key."""
            caller = await self._service.caller_within_rate(request)
            config = self._service.args.gateway
            data = await read_body(request, config, limit=config.photo.max_bytes)
            ticket = await self._uploads.add(data, caller)
            return Response(ticket.json_bytes(), 201, media_type=JSON, headers=NO_STORE)

        app.include_router(router)


class _McpResponse(Response):
    """A message whose body has been read, handled by the SDK. Its client is watched until the reply is out."""

    def __init__(self, manager: StreamableHTTPSessionManager, body: bytes) -> None:
        super().__init__()
        self._manager = manager
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply_started = False

        async def replay() -> Message:
            nonlocal reply_started
            if reply_started:
                return await receive()
            reply_started = True
            return {"type": "http.request", "body": self._body, "more_body": False}

        await self._manager.handle_request(scope, replay, send)
