"""What `auto` owes every engine that sees: all its rollouts with tools where a photo shows something, one where not.

The ratings are made without reading signs, as if no photo had any text: the worst case for a router.
"""

import asyncio
import io
import json
import subprocess
import sys
from dataclasses import replace

import httpx
import pytest
from click.testing import CliRunner
from PIL import Image, ImageDraw
from support.basics import a_context
from support.empty_pictures import PICTURES, empty, empty_photo
from support.endpoint import chunk, serving, text_chunks
from support.evaluation_photos import DEFAULT_PHOTOS
from support.service import serving as serving_requests

from deployments.cli import cli
from deployments.config import AppArgs
from deployments.wiring.local import local_ports
from deployments.wiring.parts import make_router
from tts.config import CluesEngine, OpenAIEngine, RoutingConfig, ScriptedEngine, VllmEngine
from tts.domain.abilities import Abilities
from tts.domain.photo_cleaning import load_photo
from tts.domain.plan import Depth, Limits, PlanDepth
from tts.domain.reading import Reading
from tts.domain.request import LocateOptions
from tts.errors import ConfigError
from tts.package_files import SAMPLES
from tts.ports.closable import Closable
from tts.profiles import load_profile, profile_names
from tts.routing.locatability import CuesLocator

SEEING = {
    "openai": OpenAIEngine(),
    "vllm": VllmEngine(model="tiny"),
    "scripted": ScriptedEngine(turns=2, tokens_per_turn=4, sees_pictures=True),
}
ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'
SEARCH = {"name": "poi_keyword_search", "arguments": '{"query": "Otaru"}'}


class Unread:
    """Reads nothing off any photo."""

    async def read(self, photo, box, context, language=""):
        return Reading(photo_sha256=photo.sha256)


class Once:
    """A locator that remembers: every engine gets the same ratings."""

    def __init__(self):
        self.cues = CuesLocator(Unread())
        self.rated = {}

    async def rate(self, photos, context):
        name = photos[0].sha256
        if name not in self.rated:
            self.rated[name] = await self.cues.rate(photos, context)
        return self.rated[name]


@pytest.fixture(scope="module")
def locator():
    return Once()


@pytest.fixture(scope="module")
def without_text():
    """The development photos in which a person reads nothing."""
    labels = DEFAULT_PHOTOS / "labels.jsonl"
    if not labels.is_file():
        pytest.skip("the development photos are not here (../shared/data/photos)")
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    return [load_photo((DEFAULT_PHOTOS / one["file"]).read_bytes()) for one in rows if not one["has_legible_text"]]


async def plan_for(args, photo, locator, **options):
    routing = await locator.rate([photo], a_context())
    return make_router(args).plan(LocateOptions(**options), routing)


@pytest.mark.parametrize("engine", SEEING)
async def test_a_photo_without_text_gets_all_rollouts_with_tools(engine, without_text, locator):
    assert len(without_text) == 48
    for photo in without_text:
        plan = await plan_for(AppArgs(engine=SEEING[engine]), photo, locator, n_parallel=4)
        assert (plan.n_planned, plan.use_tools, plan.limits.max_turns) == (4, True, 8)
        assert plan.summary.startswith("4 attempts of one model with tools: no text to read, but ")


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("engine", SEEING)
async def test_a_picture_without_content_gets_one_rollout_and_the_plan_says_why(engine, name, locator):
    plan = await plan_for(AppArgs(engine=SEEING[engine]), empty_photo(name), locator, n_parallel=4)
    assert (plan.depth, plan.n_planned, plan.use_tools) == (PlanDepth.HOPELESS, 1, False)
    assert plan.summary == (
        "1 attempt without tools: the photo shows nothing that names a place: it is blank, one texture or noise"
    )


@pytest.fixture
async def endpoint():
    async with serving(reply_with_search) as there:
        yield there


@pytest.fixture(params=["scripted", "openai"])
async def posted(request, locator, data_store, endpoint):
    """The events of a photo that is posted to a service, as a client reads them; one service for all photos."""
    seeing = {"openai": OpenAIEngine(base_url=endpoint.url, model="m"), "scripted": SEEING["scripted"]}
    args = AppArgs(engine=seeing[request.param])
    ports = replace(local_ports(args), locator=locator)
    async with serving_requests(args, ports=ports) as (url, _), httpx.AsyncClient(base_url=url, timeout=60) as client:

        async def events_of(photo):
            reply = await client.post(
                "/locate",
                files={"image": photo.data},
                data={"n_parallel": "4", "stop": "none"},
                headers={"Accept": "application/x-ndjson"},
            )
            assert reply.status_code == 200, reply.text
            return [json.loads(line) for line in reply.text.splitlines() if line.strip()]

        yield events_of
    assert isinstance(ports.rollouts, Closable)
    await ports.rollouts.aclose()


@pytest.mark.slow
async def test_the_planned_number_of_rollouts_runs_and_each_one_calls_a_tool(without_text, posted):
    """Each of the 48 photos without text gets its four rollouts, and each of those calls a tool."""
    assert len(without_text) == 48
    for photo, started in (*((photo, 4) for photo in without_text), (empty_photo("noise"), 1)):
        events = await posted(photo)
        assert sum(event["type"] == "rollout_started" for event in events) == started
        (routed,) = [event for event in events if event["type"] == "routed"]
        attempts = (
            "4 attempts of one model with tools: no text"
            if started > 1
            else "1 attempt with tools: the photo shows nothing"
        )
        assert routed["plan"]["summary"].startswith(attempts)
        (answered,) = [event["answer"] for event in events if event["type"] == "answer"]
        assert answered["usage"]["tool_calls"] == answered["n"]["answered"] == started


@pytest.mark.parametrize(
    "blind",
    [CluesEngine(), ScriptedEngine(), OpenAIEngine(sees_pictures=False)],
    ids=["clues", "scripted", "text model"],
)
async def test_an_engine_that_only_reads_is_planned_for_as_before(blind, without_text, locator):
    plan = await plan_for(AppArgs(engine=blind), without_text[0], locator, n_parallel=4)
    assert (plan.depth, plan.n_planned, plan.use_tools) == (PlanDepth.HOPELESS, 1, False)
    assert plan.summary == "1 attempt without tools: no readable text, so nothing to look up"


def test_a_text_model_sees_through_its_observer():
    assert AppArgs(engine=OpenAIEngine(sees_pictures=False), observer=OpenAIEngine()).abilities.sees_pictures
    assert not AppArgs(engine=OpenAIEngine(sees_pictures=False)).abilities.sees_pictures


def test_an_engine_configured_without_tool_calls_has_no_such_ability():
    args = AppArgs(engine=OpenAIEngine(calls_tools=False), routing=RoutingConfig(method="fixed"))
    assert args.abilities == Abilities(sees_pictures=True, calls_tools=False)


PUBLISHED = {
    "thinking_with_map": (8, 8),
    "reverse": (10, 13),
    "spotagent": (7, 6),
    "geoagent": (1, 0),
    "geovista": (6, 6),
    "geo_adapt": (2, 0),
}
PROGRAM = "import sys; from deployments.cli import main; sys.argv[0] = 'geotts'; main()"


@pytest.mark.parametrize("depth", ["auto", "standard", "deep"])
@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("engine", [OpenAIEngine(), ScriptedEngine()], ids=["sees", "reads"])
async def test_no_depth_cuts_the_budget_of_a_published_dialect(engine, name, depth, sign_photo, locator):
    turns, calls = PUBLISHED[name]
    for photo in (sign_photo, empty_photo("black")):
        asked = await plan_for(AppArgs(engine=engine), photo, locator, dialect=name, depth=depth)
        args = AppArgs(engine=engine, dialect=name, limits=Limits(**load_profile(name).limits.model_dump()))
        served = await plan_for(args, photo, locator, depth=depth)
        for plan in (asked, served):
            assert plan.limits.max_turns >= turns
            assert plan.limits.max_tool_calls >= calls
            assert plan.use_tools


def test_the_list_of_published_profiles_is_complete():
    assert {*PUBLISHED} == {*profile_names()} - {"generic", "hosted", "small"}  # those are for any model


async def test_operator_and_caller_may_cut_the_budget_of_a_published_dialect(sign_photo, locator):
    args = AppArgs(engine=OpenAIEngine(), dialect="reverse", limits=Limits(max_turns=3))
    plan = await plan_for(args, sign_photo, locator, n_parallel=2, max_tool_calls=8)
    assert (plan.limits.max_turns, plan.limits.max_tool_calls) == (3, 4)
    direct = await plan_for(args, sign_photo, locator, depth=Depth.DIRECT)
    assert (direct.limits.max_turns, direct.use_tools) == (1, False)


async def test_an_unknown_dialect_is_refused_by_its_name(sign_photo, locator):
    with pytest.raises(ConfigError, match="there is no dialect 'klingon'"):
        await plan_for(AppArgs(), sign_photo, locator, dialect="klingon")


def street():
    """A scene without a letter in it."""
    picture = Image.new("RGB", (640, 480), (150, 190, 235))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 300, 640, 480), fill=(110, 105, 100))
    draw.polygon([(30, 310), (140, 50), (250, 310)], fill=(190, 120, 90))
    draw.ellipse((330, 120, 560, 360), fill=(40, 110, 50))
    out = io.BytesIO()
    picture.save(out, "JPEG")
    return out.getvalue()


def reply_with_search(body, number):
    if any(message["role"] == "assistant" for message in body["messages"]):
        return text_chunks(ANSWER)
    return text_chunks("A sign.", chunk(tool_calls=[{"index": 0, "id": "x", "function": SEARCH}]), finish="tool_calls")


@pytest.mark.slow
@pytest.mark.parametrize("picture", ["street", "black"])
async def test_locate_against_an_endpoint_follows_the_plan_that_it_prints(picture, tmp_path, data_store):
    """As a person types it: `geotts locate -n 4 PHOTO` with a model behind an endpoint."""
    path = tmp_path / "photo.jpg"
    path.write_bytes(street() if picture == "street" else empty("black"))
    async with serving(reply_with_search) as endpoint:
        engine = f"engine={{name: openai, base_url: '{endpoint.url}', model: m}}"
        typed = ["locate", str(path), "-n", "4", "--stop", "none", "--set", engine]
        running = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROGRAM, *typed, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        _, stderr = await running.communicate()
    assert running.returncode == 0, stderr.decode()
    turns = [body for body in endpoint.bodies if body["stream"]]  # the others find out what the endpoint can do
    if picture == "street":
        assert "plan: 4 attempts of one model with tools: no text to read, but " in stderr.decode()
        assert len(turns) == 8
    else:
        assert "plan: 1 attempt with tools: the photo shows nothing that names a place" in stderr.decode()
        assert len(turns) == 2


SIGN = SAMPLES / "town-sign-latin.jpg"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("picture", "sentence"),
    [
        ("sign", "2 attempts of one model with tools: there is some text to read and to look up"),
        (
            "black",
            "1 attempt without tools: the photo shows nothing that names a place: it is blank, one texture or noise",
        ),
    ],
)
def test_the_engine_that_reads_says_its_plan_in_one_plain_sentence_before_the_answer(
    picture, sentence, tmp_path, data_store
):
    path = tmp_path / "photo.jpg"
    path.write_bytes(SIGN.read_bytes() if picture == "sign" else empty("black"))
    done = CliRunner().invoke(cli, ["locate", str(path), "-n", "4"], standalone_mode=False)
    lines = [line.strip() for line in done.output.splitlines()]
    assert f"plan: {sentence}" in lines
    assert lines.index(f"plan: {sentence}") < min(i for i, line in enumerate(lines) if "] answered: " in line)
