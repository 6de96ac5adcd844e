"""The first rollout leads: it starts before the photo was rated, and its first turn decides for the others."""

import asyncio
import json
from dataclasses import replace

import pytest
from support.basics import a_request, leftover_tasks, virtual_time

from tts.aio import closing
from tts.config import ScriptedEngine
from tts.dialects import DIALECTS
from tts.dialects.base import Completion
from tts.dialects.served.generic import GenericDialect
from tts.domain.abilities import Abilities
from tts.domain.claim import ClaimedPlace
from tts.domain.events import RolloutStarted, Routed
from tts.domain.geo import Circle, LatLon
from tts.domain.hypothesis import Level
from tts.domain.identity import Identity
from tts.domain.plan import Limits, Locatability
from tts.domain.stop_settings import WatchSettings
from tts.domain.trajectory import fold
from tts.errors import ModelError
from tts.inference.scripted.engine import ScriptedModel, ScriptedTurn
from tts.pipeline import solve
from tts.ports.locator import Routing
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Attachment
from tts.rollout.agent import Agent
from tts.rollout.first_turn import first_cues
from tts.rollout.group import run_group
from tts.routing.depth_router import DepthRouter
from tts.toolkit.toolbox import LocalToolbox
from tts.verify.verifiers.fallback import fallback_verdict

PARIS = (48.8566, 2.3522, "Paris", "France")
RIVAL = ClaimedPlace(
    place="Rome (Italy)", kind="town", areas=(Circle(centre=LatLon(lat=41.9, lon=12.5), radius_km=20),)
)
ROME = (41.9028, 12.4964, "Rome", "Italy")


def answer(place, why="The sign says it."):
    lat, lon, city, country = place
    return why + "\n" + json.dumps({"lat": lat, "lon": lon, "city": city, "country": country})


class Slow:
    """Rates a photo after some seconds."""

    def __init__(self, seconds=5.0, content=1.0, error=None):
        self.seconds = seconds
        self.content = content
        self.error = error

    async def rate(self, photos, context):
        await asyncio.sleep(self.seconds)
        if self.error:
            raise self.error
        return Routing(Locatability(score=0.1, method="cues", parts={"text": 0.0, "content": self.content}))


class Playing:
    """Rollouts of a script, in this process."""

    def __init__(self, script, model=None):
        self.model = model or ScriptedModel(ScriptedEngine(), tuple(script))
        self.starts = {}

    def group_size(self, group):
        return len(group.tasks)

    async def run(self, group):
        now = asyncio.get_running_loop().time()
        self.starts |= {task.rollout_id: now for task in group.tasks}
        agent = Agent(self.model, GenericDialect(), LocalToolbox([]))
        async with closing(run_group(agent, group, coalesce_s=0.0)) as batches:
            async for batch in batches:
                yield batch


class Unchecked:
    async def verify(self, request):
        yield fallback_verdict(request, "not checked")


def script(*answers, turn_s=2.0):
    return [ScriptedTurn(rollout=i, text=text, first_token_s=turn_s, token_s=0.0) for i, text in enumerate(answers)]


async def run(
    photo, turns, *, locator=None, model=None, width="full", prefix_wait_s=None, stop="none", n=4, depth="auto",
    leader=True, **more
):  # fmt: skip
    rollouts = Playing(turns, model)
    identity = Identity(version="0", engine="fake", model="fake", dialect="generic", verifier="fake")
    watch = WatchSettings(stop=stop, leader=leader, width=width, prefix_wait_s=prefix_wait_s)
    router = DepthRouter(Limits(), Abilities(sees_pictures=True))
    ports = Ports(locator or Slow(), router, rollouts, Unchecked(), identity, watch)
    request = a_request(photo, n_parallel=n, depth=depth, **more)
    async with closing(solve(request, ports, deadline_s=100.0)) as items:
        events = [item async for item in items if not isinstance(item, Attachment)]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert sum(isinstance(event, Routed) for event in events) == 1
    assert (events[-2].type, events[-1].type) == ("answer", "done")
    assert rollouts.model.running == 0
    assert not leftover_tasks()
    return rollouts.starts, fold(events), events


def virtually(check):
    virtual_time(check)()


def test_the_leader_starts_at_once_and_the_others_when_the_photo_was_rated(blank_photo):
    async def check():
        starts, folded, events = await run(blank_photo, script(*[answer(PARIS)] * 4))
        assert starts == {0: 0.0, 1: 5.0, 2: 5.0, 3: 5.0}
        kinds = [event.type for event in events]
        assert kinds.index("rollout_started") < kinds.index("routed")
        assert folded.answer.n.run == 4

    virtually(check)


def test_the_engine_is_called_before_anything_rates_the_photo(blank_photo):
    """What rates it works in threads, which would keep the leader from the processor for some milliseconds."""

    class Asking(ScriptedModel):
        def __init__(self, *settings):
            super().__init__(*settings)
            self.asked = 0

        async def generate(self, request):
            self.asked += 1
            async for delta in super().generate(request):
                yield delta

    class Looking(Slow):
        async def rate(self, photos, context):
            self.asked_before = model.asked
            return await super().rate(photos, context)

    async def check():
        locator = Looking()
        await run(blank_photo, [], locator=locator, model=model)
        assert locator.asked_before == 1

    model = Asking(ScriptedEngine(), tuple(script(*[answer(PARIS)] * 4)))
    virtually(check)


@pytest.mark.parametrize("width", ["full", "careful"])
def test_a_picture_that_shows_nothing_keeps_the_leader_alone(blank_photo, width):
    async def check():
        starts, folded, _ = await run(blank_photo, script(*[answer(PARIS)] * 4), locator=Slow(content=0.1), width=width)
        assert starts == {0: 0.0}
        assert folded.routed.plan.summary.startswith("1 attempt with tools: the photo shows nothing")

    virtually(check)


def test_siblings_wait_for_the_first_token_where_the_engine_keeps_prefixes(blank_photo):
    async def check():
        starts, _, _ = await run(blank_photo, script(*[answer(PARIS)] * 4), locator=Slow(0.5), prefix_wait_s=30.0)
        assert starts == {0: 0.0, 1: 2.0, 2: 2.0, 3: 2.0}

    virtually(check)


def test_siblings_do_not_wait_for_a_leader_whose_first_token_does_not_come(blank_photo):
    async def check():
        slow = script(*[answer(PARIS)] * 4, turn_s=40.0)
        starts, _, _ = await run(blank_photo, slow, locator=Slow(0.5), prefix_wait_s=3.0)
        assert starts == {0: 0.0, 1: 3.0, 2: 3.0, 3: 3.0}

    virtually(check)


@pytest.mark.parametrize("width", ["full", "careful"])
def test_a_depth_the_caller_named_starts_all_at_once(blank_photo, width):
    async def check():
        turns = script(*[answer(PARIS)] * 4)
        starts, folded, _ = await run(blank_photo, turns, depth="deep", width=width, locator=Slow(0.5))
        assert starts == dict.fromkeys(range(4), 0.0)
        assert folded.routed.locatability.method == "cues"

    virtually(check)


@pytest.mark.parametrize("asked", [{"depth": "deep"}, {"n": 1}])
def test_rollouts_do_not_wait_for_a_rating_that_decides_nothing(blank_photo, asked):
    async def check():
        turns = script(*[answer(PARIS)] * 4)
        _, folded, events = await run(blank_photo, turns, locator=Slow(50.0), **asked)
        assert events[-1].t_s == pytest.approx(2.0)
        assert "nothing is known" in folded.routed.locatability.why

    virtually(check)


def test_rollouts_answer_although_the_rating_of_the_photo_fails(blank_photo):
    async def check():
        broken = Slow(1.0, error=ModelError("down"))
        starts, folded, _ = await run(blank_photo, script(*[answer(PARIS)] * 4), locator=broken)
        assert len(starts) == 4
        assert folded.answer.country == "France"

    virtually(check)


def test_careful_checks_a_leader_that_is_sure_with_one_sibling(blank_photo):
    async def check():
        starts, folded, _ = await run(blank_photo, script(*[answer(PARIS)] * 4), locator=Slow(0.1), width="careful")
        assert starts == {0: 0.0, 1: 2.0}
        assert (folded.answer.n.planned, folded.answer.n.run, folded.answer.country) == (4, 2, "France")
        assert folded.answer.undone == ("2 planned rollouts were not started: the first ones already agreed",)

    virtually(check)


def test_dissent_of_the_sibling_brings_in_all(blank_photo):
    async def check():
        turns = script(answer(ROME), *[answer(PARIS)] * 3)
        starts, folded, _ = await run(blank_photo, turns, locator=Slow(0.1), width="careful")
        assert starts == {0: 0.0, 1: 2.0, 2: 4.0, 3: 4.0}
        assert folded.answer.country == "France"

    virtually(check)


@pytest.mark.parametrize(
    "first",
    [
        answer(PARIS, "Warm light and plane trees, no signs are visible."),
        'The sign names a country only.\n{"lat": 46.0, "lon": 2.0, "country": "France", "level": "country"}',
    ],
    ids=["implicit cues", "too coarse"],
)
def test_a_leader_that_is_not_sure_brings_in_all_at_once(blank_photo, first):
    async def check():
        starts, _, _ = await run(blank_photo, script(first, *[answer(PARIS)] * 3), locator=Slow(0.1), width="careful")
        assert starts == {0: 0.0, 1: 2.0, 2: 2.0, 3: 2.0}

    virtually(check)


def test_a_leader_that_fails_brings_in_all(blank_photo):
    async def check():
        turns = script("", *[answer(PARIS)] * 3)
        turns[0] = turns[0].model_copy(update={"error": "lost"})
        starts, folded, _ = await run(blank_photo, turns, locator=Slow(0.1), width="careful")
        assert len(starts) == 4
        assert folded.answer.country == "France"

    virtually(check)


NAMED = """\
<directions>
1. The phone number on the sign: look up its area code.
2. Look up the area code of the phone number on the sign.
3. The shop name "Kafe Zora": look the shop up.
</directions>
"""
PHONE = "The phone number on the sign: look up its area code."
SHOP = 'The shop name "Kafe Zora": look the shop up.'


class Remembering(ScriptedModel):
    """Keeps the last message of each first prompt."""

    def __init__(self, turns):
        super().__init__(ScriptedEngine(), tuple(turns))
        self.asked = {}

    async def generate(self, request):
        self.asked.setdefault(request.session_id.rsplit("/", 1)[-1], request.messages[-1].text)
        async for delta in super().generate(request):
            yield delta


@pytest.mark.parametrize("asked", [{"depth": "deep"}, {"depth": "auto"}, {"leader": False}], ids=str)
def test_siblings_get_the_directions_of_the_leader_that_differ_most(blank_photo, asked):
    async def check():
        model = Remembering(script(NAMED + answer(PARIS), *[answer(PARIS)] * 3))
        starts, folded, _ = await run(
            blank_photo, [], locator=Slow(0.5), model=model, diverse_first_calls=True, **asked
        )
        assert len(starts) == 4
        assert starts[1] - starts[0] == pytest.approx(2.0)
        assert folded.rollouts[0].turns[0].cues.directions[0] == PHONE
        assert [folded.rollouts[i].direction for i in range(4)] == ["", SHOP, "", ""]
        assert "write 4 lines of enquiry" in model.asked["0"]
        assert repr(SHOP) in model.asked["1"]
        assert f"- {PHONE}" in model.asked["1"]
        assert "Begin with something else" in model.asked["2"]

    virtually(check)


def test_siblings_start_without_directions_if_the_leader_names_none_in_time(blank_photo):
    async def check():
        turns = script(*[answer(PARIS)] * 4, turn_s=40.0)
        starts, folded, _ = await run(blank_photo, turns, locator=Slow(0.5), diverse_first_calls=True)
        assert starts == {0: 0.0, 1: 25.0, 2: 25.0, 3: 25.0}
        assert folded.answer.country == "France"

    virtually(check)


def test_siblings_of_a_leader_that_fails_start_without_directions(blank_photo):
    async def check():
        turns = script("", *[answer(PARIS)] * 3)
        turns[0] = turns[0].model_copy(update={"error": "lost"})
        _, folded, _ = await run(blank_photo, turns, locator=Slow(0.5), diverse_first_calls=True)
        assert [folded.rollouts[i].direction for i in range(4)] == [""] * 4
        assert folded.answer.country == "France"

    virtually(check)


def test_no_rollout_is_asked_for_directions_unless_they_are_configured(blank_photo):
    async def check():
        model = Remembering(script(*[answer(PARIS)] * 4))
        starts, _, _ = await run(blank_photo, [], locator=Slow(0.5), model=model)
        assert starts == {0: 0.0, 1: 0.5, 2: 0.5, 3: 0.5}
        assert all("line of enquiry" not in text and "lines of enquiry" not in text for text in model.asked.values())

    virtually(check)


@pytest.mark.parametrize(
    ("service", "asked", "diverse"), [(True, None, True), (True, False, False), (False, True, True)]
)
def test_groups_have_the_first_calls_that_the_request_asks_for_else_those_of_the_service(
    blank_photo, service, asked, diverse
):
    async def check():
        groups = []

        class Recording(Playing):
            def run(self, group):
                groups.append(group)
                return super().run(group)

        identity = Identity(version="0", engine="fake", model="fake", dialect="generic", verifier="fake")
        watch = WatchSettings(diverse_first_calls=service)
        rollouts = Recording(script(*[answer(PARIS)] * 2))
        ports = Ports(Slow(0.0), DepthRouter(Limits(), Abilities()), rollouts, Unchecked(), identity, watch)
        request = a_request(blank_photo, n_parallel=2, diverse_first_calls=asked)
        async with closing(solve(request, ports, deadline_s=100.0)) as items:
            assert [item async for item in items][-1].type == "done"
        assert {group.diverse_first_calls for group in groups} == {diverse}
        assert {replace(group, testing=(RIVAL,)).diverse_first_calls for group in groups} == {False}

    virtually(check)


def test_closing_a_request_after_the_leader_started_leaves_nothing_running(blank_photo):
    async def check():
        rollouts = Playing(script(*[answer(PARIS)] * 4, turn_s=50.0))
        identity = Identity(version="0", engine="fake", model="fake", dialect="generic", verifier="fake")
        router = DepthRouter(Limits(), Abilities(sees_pictures=True))
        ports = Ports(Slow(10.0), router, rollouts, Unchecked(), identity, WatchSettings(leader=True))
        async with closing(solve(a_request(blank_photo), ports, deadline_s=100.0)) as items:
            async for item in items:
                if isinstance(item, RolloutStarted):
                    break
        assert rollouts.model.running == 0
        assert not leftover_tasks()

    virtually(check)


CUES = [
    ("generic", "The sign reads Kafe, trees beside it.", ("text",), ("vegetation",)),
    ("generic", "There is no text and no landmark; palms and bollards.", (), ("vegetation", "road_furniture")),
    ("generic", "I can't see any signs or plates.", (), ()),
    ("thinking_with_map", "Hypothesis: the Eiffel Tower, an unmistakable landmark.", ("landmark",), ()),
    ("thinking_with_map", "招牌上的文字是合肥", ("text",), ()),
    ("spotagent", "<think>No visible signage. A brick facade.</think>", (), ("architecture",)),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "text", "explicit", "implicit"), CUES)
def test_dialects_tell_the_kinds_of_cues(dialect, text, explicit, implicit):
    cues = DIALECTS[dialect].cues(text)
    assert (cues.explicit, cues.implicit) == (explicit, implicit)


@pytest.mark.parametrize("depth", ["short", "deep"])
def test_geo_adapt_says_itself_what_depth_a_photo_needs(depth):
    assert DIALECTS["geo_adapt"].cues(f"<think><depth>{depth}</depth> Hills.").wants_depth == depth


def test_the_cues_of_a_first_turn_have_the_level_of_the_place_it_looks_up(blank_photo):
    dialect = DIALECTS["thinking_with_map"]
    call = '<tool_call>\n{"name": "amap_keyword_search", "arguments": {"query": "Hefei"}}\n</tool_call>'
    text = f"The sign says Hefei.\n{call}"
    found = first_cues(dialect, dialect.parse(Completion(text), turn=0), text, (blank_photo,))
    assert (found.explicit, found.level, found.wants_tool) == (("text",), Level.CITY, True)
