"""What an endpoint refused is not sent again by the next process, until the server is another or days have passed."""

import asyncio
import json
import logging
import stat
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from support.basics import a_context
from support.chat_servers import BY_NAME, play_server
from support.chat_speakers import speaking
from support.cutting_server import CuttingServer, is_canary, ollama_pages
from support.endpoint import serving

from tts.config import OpenAIEngine
from tts.dialects import DIALECTS
from tts.dialects.base import Task
from tts.inference.openai.endpoint.refusal_memory import EndpointMemory
from tts.inference.openai.endpoint.traits import EndpointTraits
from tts.inference.openai.engine import OpenAIModel
from tts.ports.model_client import ModelRequest, Sampling
from tts.ports.toolbox import ToolSchema

SEARCH = ToolSchema(name="poi_keyword_search", description="Find places.", parameters={"type": "object"})
DAY_S = 86_400.0


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "cache" / "endpoints.json"
    monkeypatch.setenv("GEOTTS_ENDPOINT_MEMORY", str(path))
    return path


async def one_process(endpoint, model_name, photo, **config):
    """(numbers of requests, traits): what one process sends that asks once. A model has no state but the file."""
    before = len(endpoint.bodies)
    model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model=model_name, backoff_s=0.01, **config))
    opening = DIALECTS["generic"].opening(Task(photos=(photo,)))
    request = ModelRequest(
        a_context(), "loc_test/0", opening, Sampling(temperature=0.7, top_k=20), photos=(photo,), tools=(SEARCH,)
    )
    deltas = [delta async for delta in model.generate(request)]
    assert deltas[-1].usage is not None
    await model.aclose()
    return len(endpoint.bodies) - before, model.traits


@pytest.mark.parametrize("name", ["openai-reasoning", "anthropic", "sglang", "ollama", "vllm"])
async def test_the_next_process_sends_the_accepted_form_at_once(file, name, sign_photo):
    server = BY_NAME[name]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        first, traits = await one_process(endpoint, server.model, sign_photo)
        again, remembered = await one_process(endpoint, server.model, sign_photo)
    assert first > 1
    assert again == 1
    assert remembered == traits


async def test_the_list_of_models_is_asked_for_once_for_a_known_hosted_model(file, sign_photo):
    server = BY_NAME["openai-chat"]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        for _ in range(3):
            await one_process(endpoint, server.model, sign_photo)
    assert endpoint.asked == ["/v1/models"]


async def test_another_model_does_not_use_the_remembered_refusals(file, sign_photo):
    server = BY_NAME["openai-reasoning"]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        first, _ = await one_process(endpoint, server.model, sign_photo)
        other, _ = await one_process(endpoint, "other", sign_photo)
    assert other == first


@pytest.mark.parametrize("changed", [{"/api/version": {"version": "0.40.0"}}, ollama_pages(context_length=4096)])
async def test_a_server_of_another_version_or_context_is_tried_anew(file, sign_photo, changed):
    server = BY_NAME["ollama"]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        first, _ = await one_process(endpoint, server.model, sign_photo)
        endpoint.pages = {**server.pages, **changed}
        again, _ = await one_process(endpoint, server.model, sign_photo)
    assert again == first > 1


async def test_a_server_with_another_chat_template_is_tried_anew(file, sign_photo):
    """As llama-server shows it: first one that loses the tools, then its own."""

    def showing(show_tools):
        def template(body):
            text = "".join(str(message["content"]) for message in body["messages"])
            return {"prompt": text + (json.dumps(body.get("tools", "")) if show_tools else "")}

        return template

    listed = {"data": [{"id": "m", "owned_by": "llamacpp"}]}
    async with serving(play_server(BY_NAME["openai-chat"], speaking("generic")), {}) as endpoint:
        found = []
        for show_tools in (False, True):
            endpoint.pages = {"/v1/models": listed, "/apply-template": showing(show_tools)}
            _, traits = await one_process(endpoint, "m", sign_photo)
            found.append(traits.tools)
    assert found == ["text", "native"]


async def test_remembered_refusals_do_not_override_the_configuration(file, sign_photo):
    server = BY_NAME["ollama"]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        await one_process(endpoint, server.model, sign_photo)
        native, _ = await one_process(endpoint, server.model, sign_photo, tools="native")
        nothing, _ = await one_process(endpoint, server.model, sign_photo, remember_days=0)
    assert native == nothing == 2


async def test_a_context_that_was_proven_is_not_asked_again(file, sign_photo):
    server = CuttingServer(8192, speaking("generic"))
    async with serving(server.play, ollama_pages()) as endpoint:
        await one_process(endpoint, "gemma3:4b", sign_photo)
        await one_process(endpoint, "gemma3:4b", sign_photo)
    assert list(map(is_canary, endpoint.bodies)) == [True, False, False]


async def test_the_file_is_private_and_names_no_key(file, sign_photo):
    server = BY_NAME["openai-reasoning"]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        endpoint.url = endpoint.url.replace("http://", "http://somebody:secret@")
        await one_process(endpoint, server.model, sign_photo)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert "secret" not in file.read_text()
    assert "temperature" in file.read_text()
    assert sorted(path.name for path in file.parent.iterdir()) == ["endpoints.json", "endpoints.lock"]


@pytest.mark.parametrize("damage", [b"{", b"[]", b'{"entries": {"x": 1}}', b"\xff\xfe", b'{"endpoints_version": 9}'])
async def test_a_damaged_file_is_ignored_with_a_warning_and_written_anew(file, sign_photo, damage, caplog):
    server = BY_NAME["ollama"]
    file.parent.mkdir()
    file.write_bytes(damage)
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        with caplog.at_level(logging.WARNING):
            first, _ = await one_process(endpoint, server.model, sign_photo)
        again, _ = await one_process(endpoint, server.model, sign_photo)
    assert "what was remembered of endpoints is not used" in caplog.text
    assert (first, again) == (2, 1)


async def test_a_place_that_cannot_be_written_costs_a_line_in_the_log(tmp_path, monkeypatch, sign_photo, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GEOTTS_ENDPOINT_MEMORY", str(tmp_path / "file" / "endpoints.json"))
    server = BY_NAME["ollama"]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        request_count, _ = await one_process(endpoint, server.model, sign_photo)
    assert request_count == 2
    assert "is not remembered" in caplog.text


def test_remembered_refusals_are_forgotten_after_the_configured_days(tmp_path):
    now = 1e9
    memory = EndpointMemory("http://127.0.0.1:1/v1", 7, tmp_path / "m.json", lambda: now)
    memory.keep("m", "ollama 1", EndpointTraits(tools="text"))
    now += 6 * DAY_S
    assert memory.recall("m", "ollama 1") == EndpointTraits(tools="text")
    memory.keep("m", "ollama 1", EndpointTraits(streams=False))  # what is found later does not prolong it
    assert memory.recall("m") == EndpointTraits(tools="text", streams=False)
    now += 1.5 * DAY_S
    assert memory.recall("m", "ollama 1") is None
    memory.keep("other", "ollama 1", EndpointTraits())
    assert list(json.loads((tmp_path / "m.json").read_text())["entries"]) == ["http://127.0.0.1:1/v1 other"]


def _keeps(path, worker):
    memory = EndpointMemory("http://127.0.0.1:1/v1", 7, Path(path))
    for i in range(10):
        memory.keep("shared", "s", EndpointTraits(dropped=frozenset({f"field_{worker}_{i}"})))
        memory.keep(f"own {worker}", "s", EndpointTraits(max_images=i + 1))


def test_processes_that_write_at_the_same_time_lose_nothing(tmp_path):
    path = tmp_path / "m.json"
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(_keeps, [str(path)] * 4, range(4)))
    memory = EndpointMemory("http://127.0.0.1:1/v1", 7, path)
    assert memory.recall("shared").dropped == {f"field_{worker}_{i}" for worker in range(4) for i in range(10)}
    assert [memory.recall(f"own {worker}").max_images for worker in range(4)] == [1] * 4


async def test_two_commands_in_a_row_pay_for_a_refusal_once(file):
    """Real processes that ask the model as a rollout does."""
    script = (
        "import asyncio, sys\n"
        "from tts.config import OpenAIEngine\n"
        "from tts.domain.messages import text_message\n"
        "from tts.domain.request import RequestContext\n"
        "from tts.inference.openai.engine import OpenAIModel\n"
        "from tts.ports.model_client import ModelRequest, Sampling\n"
        "async def main():\n"
        "    model = OpenAIModel(OpenAIEngine(base_url=sys.argv[1], model='o-thinking'))\n"
        "    context = RequestContext(id='loc', remaining_s=30)\n"
        "    asked = ModelRequest(context, 's', (text_message('user', 'hi'),), Sampling(temperature=0.7))\n"
        "    async for _ in model.generate(asked):\n"
        "        pass\n"
        "    await model.aclose()\n"
        "asyncio.run(main())\n"
    )
    server, counts = BY_NAME["openai-reasoning"], []
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        for _ in range(2):
            process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, endpoint.url)
            assert await process.wait() == 0
            counts.append(len(endpoint.bodies))
    assert counts[0] > 1
    assert counts[1] == counts[0] + 1
