"""`geotts mcp` as a desktop program starts it: the official client over stdio, photos by path inside the roots."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from support.basics import sign_bytes
from support.otlp_receiver import run_receiver
from support.ports import free_port

from deployments.mcp.photo_arguments import AllowedRoots
from tts.errors import RequestError

ENGINE = ["--set", "engine={name: scripted, turns: 2, tokens_per_turn: 4}", "--set", "routing.method=fixed"]


CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"


def server_parameters(folder, *more):
    program = str(Path(sys.executable).with_name("geotts"))
    return StdioServerParameters(
        command=program, args=["mcp", "--root", str(folder), *ENGINE, *more], env=dict(os.environ)
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_photos_are_located_and_continued_by_their_paths(tmp_path, data_store, mode):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(sign_bytes("Rue de Rivoli"))
    (tmp_path / "photos" / "b.jpg").write_bytes(sign_bytes("Place de la Concorde"))
    (tmp_path / "secret.jpg").write_bytes(sign_bytes("Rue de Rivoli"))
    async with Client(server_parameters(tmp_path / "photos"), mode=mode) as client:
        assert client.protocol_version in (LATEST_MODERN_VERSION, LATEST_HANDSHAKE_VERSION)
        messages = []

        async def progress(done, total, message):
            messages.append(message)

        found = await client.call_tool("locate_photo", {"path": "a.jpg", "n_parallel": 2}, progress_callback=progress)
        assert not found.is_error
        assert messages[-1] == "the answer is there"
        assert (await client.read_resource(found.structured_content["report"])).contents[0].mime_type == "text/html"
        more = {"request_id": found.structured_content["request_id"], "path": "a.jpg", "fact": "in France"}
        continued = (await client.call_tool("continue_photo", more)).structured_content
        assert continued["changed"]["why"] == ["you said: “in France”", "you added a photo"]
        more["path"] = ["a.jpg", "b.jpg"]
        continued = (await client.call_tool("continue_photo", more)).structured_content
        assert continued["changed"]["why"] == ["you said: “in France”", "you added 2 photos"]
        spent = await client.call_tool("locate_photo", {"path": ["a.jpg", "b.jpg"], "budget": "60-tokens"})
        assert 0 < spent.structured_content["budget"]["tokens"] <= 60
        hidden = await client.call_tool("locate_photo", {"path": str(tmp_path / "secret.jpg")})
        assert hidden.is_error
        assert "there is no photo at this path" in hidden.content[0].text
        known = await client.call_tool("geocode", {"address": "Bellinzona"})
        assert known.structured_content["facts"][0]["country_code"] == "CH"


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_call_joins_the_trace_that_its_message_names(tmp_path, data_store, mode, monkeypatch):
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
    (tmp_path / "a.jpg").write_bytes(sign_bytes("Rue de Rivoli"))
    meta = {"traceparent": f"00-{CALLER}-00f067aa0ba902b7-01", "tracestate": "vendor=1"}
    with run_receiver() as receiver:
        telemetry = f"telemetry={{traces: otlp, gen_ai: true, endpoint: '{receiver.endpoint}'}}"
        async with Client(server_parameters(tmp_path, "--set", telemetry), mode=mode) as client:
            assert not (await client.call_tool("locate_photo", {"path": "a.jpg", "n_parallel": 2}, meta=meta)).is_error
            async with asyncio.timeout(20):
                while "request" not in {span.name for _, span in receiver.spans()}:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        spans = [span for service, span in receiver.spans() if service == "mcp"]
    assert {"request", "invoke_agent geotts", "verify"} <= {span.name for span in spans}
    assert {(span.trace_id.hex(), span.trace_state) for span in spans} == {(CALLER, "vendor=1")}
    [root] = [span for span in spans if span.name == "request"]
    assert root.parent_span_id.hex() == "00f067aa0ba902b7"


@asynccontextmanager
async def stalling_endpoint(until):
    """The URL of an endpoint that goes on with the head of its 503 until then: no time limit of a client ends this."""

    async def answer(reader, writer):
        with suppress(ConnectionError):
            writer.write(b"HTTP/1.1 503 Busy\r\n")
            while not until.is_set():
                writer.write(b"X-Wait: 1\r\n")
                await writer.drain()
                await asyncio.sleep(0.1)
            writer.write(b"Content-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": LATEST_HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"},
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", ["nobody listens", "stalls"])
async def test_a_silent_endpoint_is_warned_of_on_stderr_and_delays_no_answer(tmp_path, data_store, endpoint):
    initialized = asyncio.Event()
    async with stalling_endpoint(initialized) as stalls, asyncio.timeout(100):
        url = stalls if endpoint == "stalls" else f"http://127.0.0.1:{free_port()}/v1"
        program = str(Path(sys.executable).with_name("geotts"))
        arguments = ["mcp", "--root", str(tmp_path), "--endpoint", url, "--model", "m"]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)
        process = await asyncio.create_subprocess_exec(program, *arguments, **pipes)
        try:
            process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
            assert json.loads(await process.stdout.readline())["result"]["serverInfo"]
            initialized.set()
            stderr_text = ""
            while "To fix it" not in stderr_text:
                line = await process.stderr.readline()
                assert line, f"it ended without a warning: {stderr_text}"
                stderr_text += line.decode()
            process.stdin.close()
            assert (await process.stdout.read(), await process.wait()) == (b"", 0)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    what = f"{url} answered 503" if endpoint == "stalls" else f"{url}: ConnectError"
    assert f"! endpoint: {what}; every rollout fails. To fix it: " in stderr_text


async def test_only_files_inside_the_roots_are_read(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.jpg").write_bytes(b"a")
    (tmp_path / "b.jpg").write_bytes(b"b")
    (inside / "link.jpg").symlink_to(tmp_path / "b.jpg")
    roots = AllowedRoots([inside], max_bytes=10)
    assert await roots.read("a.jpg") == await roots.read(str(inside / "a.jpg")) == b"a"
    for path in (
        "../b.jpg",
        str(tmp_path / "b.jpg"),
        "link.jpg",
        "",
        ".",
        "a.jpg\0",
        "/dev/zero",
        "~root/x",
        "x" * 5000,
    ):
        with pytest.raises(RequestError, match="there is no photo"):
            await roots.read(path)
