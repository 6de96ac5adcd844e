"""The `openai` engine against vLLM's own HTTP server: what the made-up endpoint of the contract suite stands for."""

import asyncio
import os
import re
import subprocess
import sys
import time
from contextlib import aclosing
from pathlib import Path

import httpx
import pytest
from support.basics import a_context
from support.ports import free_port

from tts.config import OpenAIEngine
from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.errors import ModelError
from tts.inference.openai.engine import OpenAIModel
from tts.ports.model_client import ModelRequest, Sampling
from tts.ports.toolbox import ToolSchema

pytestmark = pytest.mark.timeout(300)
SEARCH = ToolSchema(
    name="look", description="Look.", parameters={"type": "object", "properties": {"q": {"type": "string"}}}
)


@pytest.fixture(scope="module")
def server(tiny_qwen3, tmp_path_factory):
    """Its address. It parses hermes calls, and counts cached tokens."""
    port, log = free_port(), tmp_path_factory.mktemp("server") / "log.txt"
    command = [
        sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(tiny_qwen3), "--served-model-name",
        "tiny", "--load-format", "dummy", "--host", "127.0.0.1", "--port", str(port), "--max-model-len", "4096",
        "--enforce-eager", "--max-num-seqs", "8", "--no-enable-chunked-prefill", "--enable-prompt-tokens-details",
        "--enable-auto-tool-choice", "--tool-call-parser", "hermes",
    ]  # fmt: skip
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}
    environment["VLLM_SERVER_DEV_MODE"] = "1"  # has the path that empties the cache of pictures
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out, env=environment) as process:
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _wait(process, port, log):
    give_up = time.monotonic() + 200
    while time.monotonic() < give_up and process.poll() is None:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/health", timeout=2).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    pytest.fail(f"vLLM's server did not come up:\n{log.read_text()[-3000:]}")


@pytest.fixture
async def engine(server):
    model = OpenAIModel(OpenAIEngine(base_url=f"{server}/v1", model="tiny", retries=0))
    yield model
    await model.aclose()


@pytest.fixture
def request_for(sign_photo):
    def make(*, seed=1, max_tokens=24, tools=(SEARCH,), session="loc_test/0"):
        return ModelRequest(
            context=a_context(120),
            session_id=session,
            messages=GenericDialect().opening(Task(photos=(sign_photo,))),
            sampling=Sampling(temperature=0.8, seed=seed, max_tokens=max_tokens, top_k=40, min_p=0.01),
            photos=(sign_photo,),
            tools=tools,
        )

    return make


async def reply_to(engine, request):
    deltas = [delta async for delta in engine.generate(request)]
    return "".join(delta.text for delta in deltas), deltas


async def running_requests(server):
    async with httpx.AsyncClient() as http:
        text = (await http.get(f"{server}/metrics")).text
    return sum(float(value) for value in re.findall(r"^vllm:num_requests_running\{.*\} (\S+)$", text, re.MULTILINE))


async def test_the_server_streams_text_and_ends_with_a_finish_reason_and_usage(engine, request_for):
    text, deltas = await reply_to(engine, request_for())
    assert text
    assert len(deltas) > 2
    last = deltas[-1]
    assert last.finish_reason in ("stop", "length", "tool_calls")
    assert last.usage.prompt_tokens > 200, "the photo is in the prompt"
    assert 0 < last.usage.completion_tokens <= 24


async def test_the_server_caches_the_prompt_for_a_second_request(engine, request_for):
    await reply_to(engine, request_for(seed=2))
    usage = (await reply_to(engine, request_for(seed=3)))[1][-1].usage
    assert usage.cached_tokens > 0.5 * usage.prompt_tokens


async def test_the_server_repeats_a_seed_and_differs_with_another(engine, request_for):
    first = (await reply_to(engine, request_for(seed=5)))[0]
    assert (await reply_to(engine, request_for(seed=5)))[0] == first
    assert (await reply_to(engine, request_for(seed=6)))[0] != first


async def test_a_picture_is_sent_once_and_again_when_it_is_forgotten(server, engine, request_for):
    texts, sizes = [], []
    for turn in range(4):
        if turn == 2:
            async with httpx.AsyncClient() as http:
                (await http.post(f"{server}/reset_mm_cache")).raise_for_status()
        text, deltas = await reply_to(engine, request_for(seed=9))
        texts.append(text)
        sizes.append(deltas[-1].usage.bytes_sent)
    assert len(set(texts)) == 1, "the model is shown the same picture"
    assert [size > 20_000 for size in sizes] == [True, False, True, False]
    assert engine.traits.pictures == "uuid"


async def test_closing_the_iterator_stops_the_server(server, engine, request_for):
    async with aclosing(engine.generate(request_for(max_tokens=3000, tools=()))) as deltas:
        while not (await anext(deltas)).text:  # the first tells what goes out
            pass
        assert await running_requests(server) == 1
    async with asyncio.timeout(5):
        while await running_requests(server):  # noqa: ASYNC110  in another process
            await asyncio.sleep(0.05)
    assert (await reply_to(engine, request_for()))[0]


async def test_a_refusal_of_the_server_is_reported(server, request_for):
    model = OpenAIModel(OpenAIEngine(base_url=f"{server}/v1", model="other", retries=0))
    with pytest.raises(ModelError, match=r"404.*other"):
        await reply_to(model, request_for())
    await model.aclose()


async def test_the_engine_finds_the_model_that_the_server_lists(server, request_for):
    model = OpenAIModel(OpenAIEngine(base_url=f"{server}/v1", retries=0))
    assert (await reply_to(model, request_for()))[0]
    assert model.name == "tiny"
    await model.aclose()
