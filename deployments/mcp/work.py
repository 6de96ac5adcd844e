"""What the tools of the MCP server do, on the same gateway as every other request: one admission, one event log."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import ValidationError

from deployments.gateway.arrival import PhotoSource
from deployments.gateway.auth import Caller
from deployments.gateway.gateway import Gateway
from deployments.mcp.checked_claim import CheckedClaim, checked_claim
from deployments.mcp.located_place import LocatedPlace, located_place
from deployments.mcp.photo_arguments import PhotoArguments
from deployments.runstore.decoding import event_of
from geotts_client.check_options import checking
from tts.aio import closing
from tts.domain.answer import Answer
from tts.domain.events import Event
from tts.domain.request import LocateOptions, RequestContext, new_request_id
from tts.domain.tooling import ToolCall
from tts.domain.trajectory import Run, fold
from tts.errors import GeoTTSError, NotFound, Overloaded, RequestError
from tts.geodata.areas import area_in_words
from tts.geodata.countries import Countries
from tts.ports import Toolbox, ToolContext, ToolOutcome, ToolSchema

# what a client may call of the service's own tools: they read places and maps, and need no photo
MAP_TOOLS = (
    "poi_keyword_search",
    "poi_input_tips",
    "poi_detail",
    "geocode",
    "reverse_geocode",
    "country_at",
    "static_map",
    "satellite_map",
)
_TOOL_S = 30.0

Report = Callable[[Event], Awaitable[None]]
ToolboxSource = Toolbox | Callable[[], Awaitable[Toolbox]]


class Pictures(Protocol):
    """Draws what an answer looks like."""

    async def draw(self, answer: Answer, view: Literal["answer", "world"]) -> bytes | None:
        """The answer on a map, as JPEG; None when it names no point."""
        ...

    async def report(self, run: Run, photo: bytes | None) -> str:
        """The whole report as HTML."""
        ...


@dataclass(frozen=True, slots=True)
class McpWork:
    """`read_path` and `read_upload` are there where photos may be named so; `fetch` where URLs are fetched."""

    gateway: Gateway
    pictures: Pictures
    arguments: type[PhotoArguments]
    toolbox: ToolboxSource | None = None
    fetch: PhotoSource | None = None
    read_path: Callable[[str], Awaitable[bytes]] | None = None
    read_upload: Callable[[str, Caller], Awaitable[bytes]] | None = None

    async def tools(self) -> tuple[ToolSchema, ...]:
        """The map tools of this service."""
        if self.toolbox is None:
            return ()
        toolbox = await self.toolbox() if callable(self.toolbox) else self.toolbox
        known = {schema.name: schema for schema in toolbox.schemas()}
        return tuple(known[name] for name in MAP_TOOLS if name in known)

    async def locate(self, given: dict[str, Any], caller: Caller, report: Report) -> LocatedPlace:
        """Locate the photo that `given` names. Leaving early cancels the request. Raises GeoTTSError."""
        asked = _checked(self.arguments, given)
        request_id, answer = await self._answered(asked, await _options(asked), caller, report)
        return located_place(request_id, answer)

    async def check(
        self, model: type[PhotoArguments], given: dict[str, Any], caller: Caller, report: Report
    ) -> CheckedClaim:
        """Check the claim, or compare the places, of a `model` of arguments. As `locate` otherwise."""
        asked = _checked(model, given)
        options = await _options(asked)
        claim: Any = getattr(asked, "claim", None) or getattr(asked, "places", ())
        try:
            options = checking(claim, options)
        except ValidationError as error:
            raise RequestError(in_short(error)) from error
        request_id, answer = await self._answered(asked, options, caller, report)
        if answer.check is None:
            raise RequestError("the claim could not be checked in time")
        return checked_claim(request_id, answer.check)

    async def _answered(
        self, asked: PhotoArguments, options: LocateOptions, caller: Caller, report: Report
    ) -> tuple[str, Answer]:
        async with self.gateway.arriving(caller) as arrival:
            photo = await self._photo(asked, caller, arrival.fetching(self.fetch))
            started = await self.gateway.start([photo], options, arrival=arrival)
        with self.gateway.attended(started.request_id, 0.0):
            run = await self._follow(started.request_id, report)
        if run.answer is None:
            raise RequestError(run.failure.detail if run.failure is not None else "the request was cancelled")
        return started.request_id, run.answer

    async def _follow(self, request_id: str, report: Report) -> Run:
        run = Run()
        async with closing(self.gateway.follow(request_id)) as entries:
            async for entry in entries:
                event = None if entry is None else event_of(entry)
                if event is not None:
                    run = fold([event], run)
                    await report(event)
        return run

    async def _photo(
        self, asked: PhotoArguments, caller: Caller, fetch: Callable[[str], Awaitable[bytes]] | None
    ) -> bytes:
        way, name = asked.source()
        if way == "path" and self.read_path is not None:
            return await self.read_path(name)
        if way == "upload" and self.read_upload is not None:
            return await self.read_upload(name, caller)
        if way == "url" and fetch is not None:
            if not name.lower().startswith("https://"):
                raise RequestError("url: an https URL is needed")
            return await fetch(name)
        raise RequestError(f"{way}: photos cannot be named so here")

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolOutcome:
        """Call one of the map tools. What it cannot answer is a failure in the outcome. Raises NotFound for another."""
        if self.toolbox is None or name not in MAP_TOOLS:
            raise NotFound(f"there is no tool {name[:60]!r}")
        toolbox = await self.toolbox() if callable(self.toolbox) else self.toolbox
        context = ToolContext(RequestContext(id=new_request_id(), remaining_s=_TOOL_S))
        try:
            async with asyncio.timeout(_TOOL_S):
                return await toolbox.call(ToolCall(id="mcp", name=name, arguments=arguments), context)
        except TimeoutError:
            raise Overloaded(f"{name} did not answer within {_TOOL_S:g} s") from None

    async def map_of(self, request_id: str, caller: Caller) -> bytes:
        """The answer on a map, as base64 of a JPEG. Raises NotFound."""
        picture = await self.pictures.draw(await self._answer(request_id, caller), "answer")
        if picture is None:
            raise NotFound("the answer names no point")
        return base64.b64encode(picture)

    async def report_of(self, request_id: str, caller: Caller) -> str:
        """The report of an answer as one HTML page. Raises NotFound."""
        meta = await self.gateway.meta(request_id, caller)
        await self._answer(request_id, caller)
        run = await self.gateway.so_far(request_id)
        found = await self.gateway.store.file(request_id, meta.photos[0]) if meta.photos else None
        return await self.pictures.report(run, None if found is None else found.data)

    async def _answer(self, request_id: str, caller: Caller) -> Answer:
        await self.gateway.meta(request_id, caller)
        answer = (await self.gateway.so_far(request_id)).answer
        if answer is None:
            raise NotFound("this request has no answer")
        return answer


def _checked(model: type[PhotoArguments], given: dict[str, Any]) -> PhotoArguments:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise RequestError(in_short(error)) from error


def in_short(error: ValidationError) -> str:
    """The wrong fields of a call, without what was given."""
    wrong = error.errors(include_url=False, include_input=False)[:5]
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}"[:300] for one in wrong)


async def _options(asked: PhotoArguments) -> LocateOptions:
    given = asked.options()
    if words := given.get("within"):
        try:
            given["within"] = await asyncio.to_thread(area_in_words, str(words), Countries())
        except ValueError as error:
            raise RequestError(f"within: {error}") from error
    try:
        return LocateOptions.model_validate(given)
    except ValidationError as error:
        raise RequestError(in_short(error)) from error


def words_of(error: GeoTTSError) -> str:
    """What a client is told of an error: nothing of what went wrong inside."""
    return "something went wrong here; the log has the details" if error.status == 500 else error.detail
