"""The time of a turn over HTTP beyond the endpoint's own time, which a separate process measures."""

from __future__ import annotations

import asyncio
import json
import multiprocessing as mp
import time
from multiprocessing.connection import Connection

import click

from geotts_benchmarks.harness import median
from geotts_benchmarks.plain_photo import plain_photo
from geotts_benchmarks.single_rollout import run_rollout
from tts.aio import closing
from tts.config import OpenAIEngine
from tts.dialects.served.generic import GenericDialect
from tts.domain.events import RolloutFinished
from tts.domain.photo import Photo
from tts.domain.photo_cleaning import load_photo
from tts.domain.plan import Limits
from tts.domain.request import RequestContext
from tts.inference.openai.engine import OpenAIModel
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.rollout.agent import Agent
from tts.toolkit.spec import Arguments, FunctionTool, Observation, ToolSpec
from tts.toolkit.toolbox import LocalToolbox

_CALLS = 3
_TOKENS = 32
_TOKEN_S = 0.002
_ANSWER = json.dumps({"lat": 1.0, "lon": 2.0})


def per_turn_ms(repeats: int) -> float:
    """Median over rollouts of (wall time − the endpoint's own time) / turns, in milliseconds."""
    context = mp.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        port: int = ours.recv()
        return asyncio.run(_measure(port, ours, repeats))
    finally:
        process.terminate()
        process.join()


async def _measure(port: int, busy: Connection, repeats: int) -> float:
    model = OpenAIModel(OpenAIEngine(base_url=f"http://127.0.0.1:{port}/v1", model="bench"))
    agent = Agent(model, GenericDialect(), LocalToolbox([_noop_tool()]))
    photo = load_photo(plain_photo())
    found = []
    for i in range(repeats + 1):
        started = time.perf_counter()
        await _run_rollout(agent, photo, i)
        wall = time.perf_counter() - started
        own = sum(busy.recv() for _ in range(_CALLS + 1))
        found.append(1000.0 * (wall - own) / (_CALLS + 1))
    await model.aclose()
    return round(median(found[1:]), 3)  # the first opens the connection


async def _run_rollout(agent: Agent, photo: Photo, seed: int) -> None:
    group = GroupRequest(
        context=RequestContext(id=f"bench{seed}", remaining_s=60.0),
        photos=(photo,),
        tasks=(RolloutTask(rollout_id=0, seed=seed),),
        n_total=1,
        limits=Limits(),
    )
    async with closing(run_rollout(agent, group, group.tasks[0])) as items:
        async for item in items:
            if isinstance(item, RolloutFinished) and item.answer is None:
                raise click.ClickException(f"a rollout had no answer: {item.error or item.stop_reason}")


def _noop_tool() -> FunctionTool[Arguments]:
    async def run(arguments: Arguments, context: object) -> Observation:
        return Observation(text="ok")

    return FunctionTool(ToolSpec("look", "Look."), Arguments, run)


def _serve(times: Connection) -> None:
    asyncio.run(_serve_endpoint(times))


async def _serve_endpoint(times: Connection) -> None:
    """Streams words at a fixed pace, then a call, or the answer; sends how long each reply took."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _read_head(reader):
            length = next((int(line.split(b":")[1]) for line in head if line.lower().startswith(b"content-length")), 0)
            if not length:  # the client asks what the endpoint is
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                continue
            body = json.loads(await reader.readexactly(length))
            started = time.perf_counter()
            await _send_reply(writer, sum(message["role"] == "assistant" for message in body["messages"]))
            times.send(time.perf_counter() - started)

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    times.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


async def _read_head(reader: asyncio.StreamReader) -> list[bytes]:
    try:
        return (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return []


async def _send_reply(writer: asyncio.StreamWriter, turn: int) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(_TOKENS):
        await asyncio.sleep(_TOKEN_S)
        _send_chunk(writer, {"delta": {"content": "word "}})
    if turn < _CALLS:
        call = {"index": 0, "id": f"x{turn}", "function": {"name": "look", "arguments": "{}"}}
        _send_chunk(writer, {"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"})
    else:
        _send_chunk(writer, {"delta": {"content": _ANSWER}, "finish_reason": "stop"})
    done = b"data: [DONE]\n\n"
    writer.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(done), done))
    await writer.drain()


def _send_chunk(writer: asyncio.StreamWriter, choice: dict[str, object]) -> None:
    data = b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"
    writer.write(b"%x\r\n%s\r\n" % (len(data), data))
