"""A chat template of an endpoint that loses the system text or the tools: seen, said, and asked so that it does not."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
from support.basics import a_context
from support.chat_servers import BY_NAME
from support.chat_speakers import speaking
from support.chat_templates import LLAMA_WITH_JINJA, rendering
from support.dialect_rollouts import toolbox
from support.endpoint import serving, serving_in_a_thread

from deployments.config import load_config
from deployments.doctor.installation import check_installation
from deployments.doctor.template_finding import template_finding
from tts.config import OpenAIEngine
from tts.dialects import DIALECTS
from tts.dialects.base import Task
from tts.domain.answer import StopReason
from tts.domain.events import RolloutFinished
from tts.domain.messages import text_message
from tts.domain.plan import Limits
from tts.inference.openai.engine import OpenAIModel
from tts.ports.model_client import ModelRequest, Sampling
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.rollout.agent import Agent
from tts.rollout.group import run_group

WAYS = [BY_NAME["vllm"], LLAMA_WITH_JINJA]
SERVERS = pytest.mark.parametrize("server", WAYS, ids=lambda server: server.name)


@contextmanager
def served_template(server, template):
    pages, play = rendering(server, template, speaking("generic"))
    with serving_in_a_thread(play, pages) as endpoint:
        yield endpoint


@SERVERS
@pytest.mark.parametrize(
    ("template", "lost"),
    [
        ("whole", None),
        ("system_with_tools_only", "the system text of requests without tools"),
        ("no_tools", "the tools"),
        ("no_system", "the system text of requests without tools, the system text of requests with tools"),
        ("unseen", None),
    ],
)
def test_a_finding_names_the_text_that_a_template_loses(server, template, lost):
    with served_template(server, template) as endpoint:
        finding = template_finding(OpenAIEngine(base_url=endpoint.url, model=server.model))
    assert (finding is not None) is (lost is not None)
    if finding is not None:
        assert finding.detail == f"{endpoint.url} loses {lost}"
        assert "--chat-template" in finding.mend


def test_a_dead_server_gives_no_finding_about_its_template():
    assert template_finding(OpenAIEngine(base_url="http://127.0.0.1:9/v1", model="m")) is None


def test_the_doctor_reports_a_template_that_loses_text(data_store):
    with served_template(BY_NAME["vllm"], "system_with_tools_only") as endpoint:
        engine = {"name": "openai", "base_url": endpoint.url, "model": "qwen3-vl"}
        findings = check_installation(load_config(None, {"engine": engine}))
    assert any("loses the system text" in finding.detail for finding in findings)


@SERVERS
@pytest.mark.parametrize("template", ["whole", "system_with_tools_only", "no_tools", "no_system", "unseen"])
async def test_a_rollout_reaches_the_model_with_its_instructions_and_tools(server, template, sign_photo, caplog):
    """What the model is shown is what the template makes of each request."""
    dialect = DIALECTS["generic"]
    pages, play = rendering(server, template, speaking("generic"))
    async with serving(play, pages) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model=server.model, backoff_s=0.01))
        group = GroupRequest(
            context=a_context(30.0),
            photos=(sign_photo,),
            tasks=(RolloutTask(rollout_id=0, seed=1),),
            n_total=1,
            limits=Limits(),
        )
        items = [
            item
            async for batch in run_group(Agent(model, dialect, toolbox()), group, coalesce_s=0.01)
            for item in batch
        ]
        plain = [delta async for delta in model.generate(_without_tools())]
        await model.aclose()
    (end,) = [item for item in items if isinstance(item, RolloutFinished)]
    assert end.stop_reason is StopReason.ANSWERED
    assert plain
    *turns, alone = play.shown
    instructions = dialect.opening(Task(photos=()))[0].text.splitlines()[0]
    assert len(turns) >= 2
    for prompt in turns:
        assert prompt.count(instructions) == 1
        assert "poi_keyword_search" in prompt
    assert "Judge strictly." in alone
    logged = [record.getMessage() for record in caplog.records if "chat template loses" in record.getMessage()]
    assert len(logged) == (template not in ("whole", "unseen"))


async def test_a_template_that_keeps_the_system_text_beside_tools_gets_it_as_trained(sign_photo):
    """REVERSE's: the trained form stays where tools are listed, and only the other requests change."""
    pages, play = rendering(BY_NAME["vllm"], "system_with_tools_only", speaking("generic"))
    async with serving(play, pages) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model="qwen3-vl", server="vllm", tools="template"))
        tools = toolbox().schemas()[:1]
        for request in (_without_tools(), replace(_without_tools(), tools=tools)):
            assert [delta async for delta in model.generate(request)]
        await model.aclose()
    alone, listed = endpoint.bodies
    assert [message["role"] for message in alone["messages"]] == ["user"]
    assert [part["text"] for part in alone["messages"][0]["content"]] == ["Judge strictly.", "Which one?"]
    assert [message["role"] for message in listed["messages"]] == ["system", "user"]
    assert len(listed["tools"]) == 1


async def test_tools_that_are_configured_as_text_are_not_looked_for(sign_photo):
    pages, play = rendering(BY_NAME["vllm"], "no_tools", speaking("generic"))
    async with serving(play, pages) as endpoint:
        model = OpenAIModel(OpenAIEngine(base_url=endpoint.url, model="qwen3-vl", tools="text"))
        assert [delta async for delta in model.generate(_without_tools())]
        await model.aclose()
    assert model.traits.tools == "text"
    assert model.traits.system_alone
    assert endpoint.bodies[0]["messages"][0]["role"] == "system"


def _without_tools():
    messages = (text_message("system", "Judge strictly."), text_message("user", "Which one?"))
    return ModelRequest(context=a_context(30.0), session_id="s", messages=messages, sampling=Sampling(max_tokens=64))
