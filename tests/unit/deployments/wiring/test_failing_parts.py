"""Tools that crash and replicas that are lost: an error that names them, never "I do not know"."""

import asyncio
from dataclasses import replace

import httpx
import pytest
from support.dialect_rollouts import Web
from support.service import PHOTO, serving

from deployments.config import AppArgs
from deployments.wiring.local import local_ports
from deployments.wiring.rollouts import LocalRollouts
from tools.web import web_search_tool
from tts.config import CluesEngine, RoutingConfig, ScriptedEngine
from tts.domain.events import RolloutFinished
from tts.domain.failure import RolloutFailure
from tts.domain.tooling import ToolErrorKind
from tts.errors import ReplicaLost, ToolError
from tts.inference.scripted.engine import ScriptedCall, ScriptedModel, ScriptedTurn
from tts.perception.sign_reader import SignReader
from tts.toolkit.broker.broker import Broker
from tts.toolkit.broker.cache_store import MemoryStore


class BrokenWeb(Web):
    async def search(self, query, *, limit, context):
        raise ZeroDivisionError("of a tool")


async def test_tools_that_crash_are_a_failure_that_names_them(data_store):
    call = ScriptedCall(name="web_search", arguments={"query": "Otaru"})
    model = ScriptedModel(ScriptedEngine(), (ScriptedTurn(text="A sign.", calls=(call,)),))
    args = AppArgs(engine=ScriptedEngine(), routing=RoutingConfig(method="fixed"))
    broken = LocalRollouts(model, Broker([web_search_tool(BrokenWeb())], MemoryStore()), args)
    ports = replace(local_ports(args), rollouts=broken)
    async with serving(args, ports=ports) as (url, _), httpx.AsyncClient(base_url=url, timeout=60) as http:
        reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "2", "depth": "deep"})
    (cause,) = reply.json()["causes"]
    assert (reply.status_code, cause["code"], cause["rollouts"]) == (503, "tool-crashed", 2)
    assert "web_search" in cause["detail"]
    assert "nothing is known about the photo" in reply.json()["detail"]


class DownWeb(Web):
    async def search(self, query, *, limit, context):
        raise ToolError("the provider answered 503", kind=ToolErrorKind.UNAVAILABLE)


async def answered_with(web, turns):
    """The reply of a service whose model makes these turns, with this web search."""
    args = AppArgs(engine=ScriptedEngine(), routing=RoutingConfig(method="fixed"))
    broker = Broker([web_search_tool(web)], MemoryStore())
    ports = replace(local_ports(args), rollouts=LocalRollouts(ScriptedModel(ScriptedEngine(), turns), broker, args))
    async with serving(args, ports=ports) as (url, _), httpx.AsyncClient(base_url=url, timeout=60) as http:
        return await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "2", "depth": "deep"})


CALL = ScriptedCall(name="web_search", arguments={"query": "Otaru"})
SEARCHES = tuple(ScriptedTurn(turn=turn, text="A sign.", calls=(CALL,)) for turn in range(40))
OTARU = ScriptedTurn(turn=1, text='{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}')


async def test_tools_of_which_no_call_is_served_are_a_failure_that_names_them(data_store):
    reply = await answered_with(DownWeb(), SEARCHES)
    (cause,) = reply.json()["causes"]
    assert (reply.status_code, cause["code"], cause["rollouts"]) == (503, "tools-failed", 2)
    assert cause["detail"] == "no tool call was served: web_search (unavailable)"
    assert "geotts doctor" in cause["mend"]


async def test_an_answer_without_a_tool_that_is_down_says_so(data_store):
    answer = (await answered_with(DownWeb(), (SEARCHES[0], OTARU))).json()["answer"]
    assert answer["city"] == "Otaru"
    assert [text for text in answer["warnings"] if text.startswith("every call of web_search failed (")]


class RefusingWeb(Web):
    async def search(self, query, *, limit, context):
        raise ToolError("status 400", kind=ToolErrorKind.BLOCKED)


@pytest.mark.parametrize("web", [Web(), RefusingWeb()])
async def test_a_search_that_is_answered_is_no_failure_of_the_tool(data_store, web):
    """Whether it finds nothing, or the call itself is refused."""
    reply = await answered_with(web, SEARCHES)
    assert (reply.status_code, reply.json()["answer"]["abstained"]) == (200, True)
    assert not [text for text in reply.json()["answer"]["warnings"] if "web_search" in text]


class NoReplica:
    """Rollouts of which every group is lost before it began, as when no replica takes one."""

    def group_size(self, group):
        return len(group.tasks)

    async def run(self, group):
        await asyncio.sleep(0.01)
        lost = RolloutFailure.from_error(ReplicaLost("the replica of the rollout was lost"))
        yield [
            RolloutFinished(rollout_id=task.rollout_id, stop_reason="failed", error=lost.detail, failure=lost)
            for task in group.tasks
        ]

    async def aclose(self):
        return None


async def test_replicas_that_are_lost_are_a_failure_that_says_so(data_store):
    args = AppArgs(engine=ScriptedEngine(), routing=RoutingConfig(method="fixed"))
    ports = replace(local_ports(args), rollouts=NoReplica())
    async with serving(args, ports=ports) as (url, _), httpx.AsyncClient(base_url=url, timeout=60) as http:
        reply = await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "2", "depth": "deep"})
    (cause,) = reply.json()["causes"]
    assert (reply.status_code, cause["code"], cause["rollouts"]) == (503, "replica-lost", 2)
    assert "the replica of the rollout was lost (2 rollouts)" in reply.json()["detail"]


@pytest.fixture
def broken_reader(monkeypatch):
    def broken(*_):
        raise MemoryError("of the reader")

    monkeypatch.setattr(SignReader, "read", broken)


async def locate_photo(engine):
    args = AppArgs(engine=engine)
    async with serving(args, ports=local_ports(args)) as (url, _), httpx.AsyncClient(base_url=url, timeout=60) as http:
        return await http.post("/locate", files={"image": PHOTO}, data={"n_parallel": "2"})


async def test_a_sign_reader_that_crashes_is_a_failure_that_names_it(data_store, broken_reader):
    reply = await locate_photo(CluesEngine())
    assert (reply.status_code, reply.json()["type"]) == (503, "urn:geotts:problem:reader-failed")
    assert reply.json()["detail"].startswith("reading the text in the photo (what the reader needs: geotts doctor)")


async def test_rollouts_that_see_answer_without_the_sign_reader(data_store, broken_reader):
    reply = await locate_photo(ScriptedEngine(sees_pictures=True))
    assert (reply.status_code, reply.json()["answer"]["abstained"]) == (200, False)
