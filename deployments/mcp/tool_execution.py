"""The tools of the MCP server, on the same gateway as every other request: one admission, one event log."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from deployments.gateway.answer_pictures import AnswerPictures
from deployments.gateway.arrival import Arrival, LocateBody, PhotoSource
from deployments.gateway.auth import Caller
from deployments.gateway.gateway import Gateway
from deployments.mcp.call_arguments import ContinueArguments, LocateArguments
from deployments.mcp.photo_arguments import NamedPhoto
from deployments.mcp.progress import MILESTONES
from deployments.runstore.stored_values import event_of
from tools.maps import MAP_TOOLS
from tools.places import PLACE_TOOLS
from tts.aio import closing, run_in_background
from tts.domain.answer import Answer
from tts.domain.events import Event
from tts.domain.request import RequestContext, new_request_id
from tts.domain.tooling import ToolCall
from tts.domain.trace_context import TraceContext
from tts.domain.trajectory import Run
from tts.egress.records import EGRESS
from tts.errors import GeoTTSError, NotFound, Overloaded, RequestError
from tts.ports.toolbox import Toolbox, ToolContext, ToolOutcome, ToolSchema

# what a client may call of the service's own tools: they read places and maps, and need no photo
_OPEN_TOOLS = (*PLACE_TOOLS, *MAP_TOOLS)
_TOOL_TIMEOUT_S = 30.0

Report = Callable[[Event], Awaitable[None]]
ToolboxSource = Toolbox | Callable[[], Awaitable[Toolbox]]


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls a tool, where each milestone of the request is reported, and the trace that the request joins."""

    caller: Caller
    report: Report
    trace: TraceContext | None = None


@dataclass(frozen=True, slots=True)
class McpTools:
    """`read_path` and `read_upload` are there where photos may be named so; `fetch` where URLs are fetched.
    `photos_s`: seconds within which all photos of a call have to be there."""

    gateway: Gateway
    pictures: AnswerPictures
    photo: type[NamedPhoto]
    toolbox: ToolboxSource | None = None
    fetch: PhotoSource | None = None
    read_path: Callable[[str], Awaitable[bytes]] | None = None
    read_upload: Callable[[str, Caller], Awaitable[bytes]] | None = None
    photos_s: float = 30.0

    async def tools(self) -> tuple[ToolSchema, ...]:
        """The map tools of this service."""
        if self.toolbox is None:
            return ()
        toolbox = await self.toolbox() if callable(self.toolbox) else self.toolbox
        known = {schema.name: schema for schema in toolbox.schemas()}
        return tuple(known[name] for name in _OPEN_TOOLS if name in known)

    async def locate(self, asked: LocateArguments, call: Call) -> tuple[str, Answer]:
        """The id and the answer of a request to locate the photo, or to check what is claimed of it. Leaving early
        cancels the request. Raises GeoTTSError."""

        async def read(arrival: Arrival) -> LocateBody:
            options = await asked.options()
            return LocateBody(options, await self._load_photos(asked, call.caller, arrival))

        return await self._run_request(read, call)

    async def continue_(self, asked: ContinueArguments, call: Call) -> tuple[str, Answer]:
        """As `locate`, for a request that continues an earlier one of the same caller."""

        async def read(arrival: Arrival) -> LocateBody:
            await self.gateway.meta(asked.request_id, call.caller)  # before a photo: nobody else's is fetched for
            addition = await asked.addition()
            photos = await self._load_photos(asked, call.caller, arrival) if asked.names_a_photo() else []
            return await self.gateway.continuation(asked.request_id, addition, call.caller, photos)

        return await self._run_request(read, call)

    async def _run_request(self, read: Callable[[Arrival], Awaitable[LocateBody]], call: Call) -> tuple[str, Answer]:
        async with self.gateway.receive_request(call.caller) as arrival:
            asked = await read(arrival)
            started = await self.gateway.start(
                asked.photos, asked.options, arrival=arrival, trace=call.trace, continuation=asked.continuation
            )
        with self.gateway.attach_reader(started.request_id, 0.0):
            run = await self._follow_run(started.request_id, call.report)
        if run.answer is None:
            raise RequestError(run.failure.detail if run.failure is not None else "the request was cancelled")
        return started.request_id, run.answer

    async def _follow_run(self, request_id: str, report: Report) -> Run:
        """The run of a request when it has ended; its milestones are reported as they come."""
        async with run_in_background(self.gateway.result(request_id)) as result:
            async with closing(self.gateway.follow(request_id)) as entries:
                async for entry in entries:
                    if entry is None or entry.kind not in MILESTONES:
                        continue
                    if (event := event_of(entry)) is not None:
                        await report(event)
            return await result()

    async def _load_photos(self, asked: NamedPhoto, caller: Caller, arrival: Arrival) -> list[bytes]:
        way, names = asked.source()
        try:
            async with asyncio.timeout(self.photos_s):
                return [await self._load_photo(way, name, caller, arrival) for name in names]
        except TimeoutError:
            raise RequestError(f"{way}: the photos did not arrive within {self.photos_s:g} s") from None

    async def _load_photo(self, way: str, name: str, caller: Caller, arrival: Arrival) -> bytes:
        fetch = arrival.fetch_from(self.fetch)
        if way == "path" and self.read_path is not None:
            return await self.read_path(name)
        if way == "upload" and self.read_upload is not None:
            return await self.read_upload(name, caller)
        if way == "url" and fetch is not None:
            if not name.lower().startswith("https://"):
                raise RequestError("url: an https URL is needed")
            return await fetch(name)
        raise RequestError(
            f"{way}: this server takes no photos in this way; the description of the tool names the others"
        )

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolOutcome:
        """Call one of the map tools. What it cannot answer is a failure in the outcome. Raises NotFound for another."""
        if self.toolbox is None or name not in _OPEN_TOOLS:
            raise NotFound(f"there is no tool {name[:60]!r}")
        toolbox = await self.toolbox() if callable(self.toolbox) else self.toolbox
        context = ToolContext(RequestContext(id=new_request_id(), remaining_s=_TOOL_TIMEOUT_S))
        try:
            async with asyncio.timeout(_TOOL_TIMEOUT_S):
                return await toolbox.call(ToolCall(id="mcp", name=name, arguments=arguments), context)
        except TimeoutError:
            raise Overloaded(f"{name} did not answer within {_TOOL_TIMEOUT_S:g} s") from None
        finally:
            EGRESS.take(context.request.id)  # no request lists it

    async def map_of(self, request_id: str, caller: Caller) -> bytes:
        """The answer on a map, as base64 of a JPEG. Raises NotFound."""
        _, answer = await self._stored_run(request_id, caller)
        picture = await self.pictures.draw(answer, "answer")
        if picture is None:
            raise NotFound("the answer has no point")
        return base64.b64encode(picture)

    async def report_of(self, request_id: str, caller: Caller) -> str:
        """The report of an answer as one HTML page. Raises NotFound."""
        meta = await self.gateway.meta(request_id, caller)
        run, _ = await self._stored_run(request_id, caller)
        found = await self.gateway.store.file(request_id, meta.photos[0]) if meta.photos else None
        return await self.pictures.report(run, None if found is None else found.data)

    async def _stored_run(self, request_id: str, caller: Caller) -> tuple[Run, Answer]:
        await self.gateway.meta(request_id, caller)
        run = await self.gateway.current_run(request_id)
        if run.answer is None:
            raise NotFound("this request has no answer")
        return run, run.answer


def words_of(error: GeoTTSError) -> str:
    """The text that a client gets for an error: nothing about what went wrong inside."""
    return "something went wrong here; the log has the details" if error.status == 500 else error.detail
