"""Every dialect against every server as its users meet it: a refused form of a request ends no rollout."""

from dataclasses import replace

import pytest
from support.basics import a_context
from support.chat_servers import BY_NAME, SERVERS, Turn, listing, play_server
from support.chat_speakers import answer_of, speaking
from support.dialect_rollouts import toolbox
from support.endpoint import Reply, serving

from tts.config import OpenAIEngine
from tts.dialects import DIALECTS
from tts.dialects.base import Task
from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished, ToolResulted
from tts.domain.plan import Limits
from tts.errors import ModelError
from tts.inference.openai.engine import OpenAIModel
from tts.ports.model_client import ModelRequest, Sampling
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.rollout.agent import Agent
from tts.rollout.group import run_group

OBJECT = answer_of("generic")


async def rollouts(server, dialect, photo, *, n=2, **config):
    async with serving(play_server(server, speaking(dialect.name)), server.pages) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model=server.model, backoff_s=0.01, **config))
        tasks = tuple(RolloutTask(rollout_id=i, seed=i + 1) for i in range(n))
        group = GroupRequest(context=a_context(30.0), photos=(photo,), tasks=tasks, n_total=n, limits=Limits())
        agent = Agent(model, dialect, toolbox())
        items = [item async for batch in run_group(agent, group, coalesce_s=0.01) for item in batch]
        await model.aclose()
    return items, endpoint, model


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
async def test_every_dialect_gets_its_answer_from_every_server(server, dialect, sign_photo):
    spoken = DIALECTS[dialect]
    items, _, _ = await rollouts(server, spoken, sign_photo)
    ends = [item for item in items if isinstance(item, RolloutFinished)]
    assert [(end.stop_reason, end.error) for end in ends] == [(StopReason.ANSWERED, "")] * 2
    if spoken.schemas(toolbox().schemas()):
        went = [item.result.ok for item in items if isinstance(item, ToolResulted)]
        assert all(went)
        assert len(went) >= 2


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
async def test_a_form_that_was_refused_is_not_sent_again(server, sign_photo):
    """Two rollouts of two turns: once adapted, every request is served."""
    _, endpoint, model = await rollouts(server, DIALECTS["generic"], sign_photo, n=1)
    refused = [i for i, body in enumerate(endpoint.bodies) if server.refuse(body) is not None]
    assert refused == list(range(len(refused)))
    assert len(endpoint.bodies) == len(refused) + 2
    assert (model.traits.tools == "native") == server.native_tools


async def test_the_server_is_recognised_with_its_limits(sign_photo):
    found = {}
    for server in SERVERS:
        _, _, model = await rollouts(server, DIALECTS["generic"], sign_photo, n=1)
        found[server.name] = (model.traits.kind, model.traits.context_tokens, model.traits.slots)
    assert found == {
        "openai-chat": ("openai", None, None),
        "openai-reasoning": ("openai", None, None),
        "gemini": ("gemini", None, None),
        "anthropic": ("anthropic", None, None),
        "openrouter": ("openrouter", 131072, None),
        "vllm": ("vllm", 16384, None),
        "sglang": ("sglang", 32768, None),
        "llama-server": ("llama_cpp", 32768, 1),
        "ollama": ("ollama", 32768, 1),
        "lm-studio": ("lm_studio", 32768, 1),
    }


@pytest.mark.parametrize(
    ("name", "headers", "kind"),
    [
        ("llama-server", {"Server": "llama.cpp"}, "llama_cpp"),
        ("llama-server", {"Server": "nginx"}, "other"),
        ("llama-server", {}, "other"),
        ("openai-chat", {"Anthropic-Organization-Id": "8f0c"}, "anthropic"),
        ("vllm", {"Server": "uvicorn"}, "vllm"),
    ],
)
async def test_a_server_that_names_itself_in_its_headers_is_recognised_however_it_lists(
    name, headers, kind, sign_photo
):
    """A proxy before it lists models in words of its own, and passes the headers on.

    https://github.com/ggml-org/llama.cpp (server-http.cpp), https://docs.anthropic.com/en/api/overview.
    """
    server = BY_NAME[name]
    owner = {} if name == "vllm" else {"owned_by": "a-proxy"}
    listed = Reply(200, listing({"id": server.model, **server.pages["/v1/models"]["data"][0], **owner}), headers)
    behind = replace(server, pages={**server.pages, "/v1/models": listed})
    _, endpoint, model = await rollouts(behind, DIALECTS["generic"], sign_photo, n=1)
    assert model.traits.kind == kind
    assert ("/props" in endpoint.asked) == (kind == "llama_cpp")
    assert model.traits.slots == (1 if kind == "llama_cpp" else None)


async def test_a_server_with_one_slot_is_asked_one_thing_at_a_time(sign_photo):
    most = 0
    server = BY_NAME["llama-server"]
    speak = speaking("generic")

    def play(body, number):
        nonlocal most
        most = max(most, endpoint.streaming + 1)
        refusal = server.refuse(body)
        return refusal or [0.05, *server.stream(speak(body), body)]

    async with serving(play, server.pages) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model=server.model))
        tasks = tuple(RolloutTask(rollout_id=i, seed=i + 1) for i in range(4))
        group = GroupRequest(context=a_context(30.0), photos=(sign_photo,), tasks=tasks, n_total=4, limits=Limits())
        agent = Agent(model, DIALECTS["generic"], toolbox())
        items = [item async for batch in run_group(agent, group, coalesce_s=0.01) for item in batch]
        await model.aclose()
    assert most == 1
    assert [i.stop_reason for i in items if isinstance(i, RolloutFinished)] == [StopReason.ANSWERED] * 4


async def end_of_one_rollout(model, photo):
    """Closes the model."""
    group = GroupRequest(
        context=a_context(),
        photos=(photo,),
        tasks=(RolloutTask(rollout_id=0, seed=1),),
        n_total=1,
        limits=Limits(),
    )
    agent = Agent(model, DIALECTS["generic"], toolbox())
    items = [item async for batch in run_group(agent, group, coalesce_s=0.01) for item in batch]
    await model.aclose()
    (end,) = [item for item in items if isinstance(item, RolloutFinished)]
    return end


async def test_a_model_must_be_named_where_several_are_listed(sign_photo):
    server = BY_NAME["openai-chat"]
    async with serving(play_server(server, speaking("generic")), server.pages) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url))
        end = await end_of_one_rollout(model, sign_photo)
    assert end.stop_reason is StopReason.FAILED
    assert "lists 2 models: name one with --model (gpt-chat, other)" in end.error


async def test_words_lost_at_the_beginning_are_an_error_that_names_the_context(sign_photo):
    """Ollama answers all the same; the number of tokens it read gives it away."""
    server = BY_NAME["ollama"]
    pages = {**server.pages, "/api/ps": {"models": []}}
    cut = {"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 5}}

    def play(body, number):
        refusal = server.refuse(body)
        steps = server.stream(Turn(text=OBJECT), body)
        return refusal or [step if not (isinstance(step, dict) and "usage" in step) else cut for step in steps]

    async with serving(play, pages) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model=server.model))
        end = await end_of_one_rollout(model, sign_photo)
    assert "the first words were lost" in end.error
    assert "OLLAMA_CONTEXT_LENGTH" in end.error


async def test_a_conversation_that_cannot_fit_is_refused_before_it_is_sent(sign_photo):
    server = BY_NAME["ollama"]
    loaded = {"models": [{"name": server.model, "model": server.model, "context_length": 64}]}
    async with serving(play_server(server, speaking("generic")), {**server.pages, "/api/ps": loaded}) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model=server.model))
        with pytest.raises(ModelError, match="the endpoint holds 64: serve the model with a longer context"):
            await all_deltas(model, sign_photo)
        await model.aclose()
    assert not [body for body in endpoint.bodies if server.refuse(body) is None]


async def all_deltas(model, photo):
    opening = DIALECTS["generic"].opening(Task(photos=(photo,)))
    request = ModelRequest(a_context(), "loc_test/0", opening, Sampling(), photos=(photo,))
    return [delta async for delta in model.generate(request)]
