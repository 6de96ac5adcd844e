"""The `vllm` engine in this process: tokens in, tokens out, pictures by content, and nothing left running."""

import asyncio
import json
import os
import pickle
import signal

import psutil
import pytest
import pytest_asyncio
from support.basics import a_context, a_request
from support.evaluation_photos import DEFAULT_PHOTOS
from support.verifier_runs import even_runs

from deployments.config import AppArgs
from deployments.wiring.parts import asking_locator, make_identity, make_router, make_verifier, make_watch
from deployments.wiring.rollouts import LocalRollouts
from tools.zoom import zoom_tool
from tts.config import RoutingConfig, VerifierConfig, VllmEngine
from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.dialects.settings import DialectSettings
from tts.domain.answer import Verdict
from tts.domain.events import RolloutStarted, Routed, TurnFinished
from tts.domain.messages import ImagePart, Message, TextPart, text_message
from tts.domain.photo import Box
from tts.domain.photo_cleaning import load_photo
from tts.domain.picture_rules import PictureRules
from tts.domain.plan import Limits, Locatability
from tts.domain.reading import Reading
from tts.domain.request import LocateOptions
from tts.domain.tooling import ImageRef
from tts.errors import FatalError, ModelError
from tts.inference.vllm.engine import VllmModel
from tts.pipeline import solve
from tts.ports.locator import Routing
from tts.ports.model_client import Delta, ModelRequest, Sampling
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Attachment, ToolSchema
from tts.ports.verification import VerdictText, VerifyRequest
from tts.routing.locatability import CuesLocator, FixedLocator
from tts.toolkit.toolbox import LocalToolbox
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import ConsensusVerifier
from tts.verify.verifiers.model import ModelVerifier

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(420)]
SEARCH = ToolSchema(
    name="look", description="Look.", parameters={"type": "object", "properties": {"q": {"type": "string"}}}
)
NUMBER = {
    "type": "object", "properties": {"lat": {"type": "integer", "minimum": 1, "maximum": 99999}},
    "required": ["lat"], "additionalProperties": False,
}  # fmt: skip
BLOCK = 128  # tokens the engine's cache keeps together on a CPU


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tiny_qwen25, tiny_lora, tiny_args):
    model = VllmModel(VllmEngine(model=str(tiny_qwen25), loras={"geo": str(tiny_lora)}, **tiny_args))
    yield model
    model.close()


@pytest.fixture
def request_for(sign_photo):
    opening = GenericDialect().opening(Task(photos=(sign_photo,)))

    def make(
        *more, session="loc_test/0", seed=1, temperature=0.8, max_tokens=24, tools=(SEARCH,), photo=None, **options
    ):
        photo = photo or sign_photo
        messages = GenericDialect().opening(Task(photos=(photo,))) if photo is not sign_photo else opening
        sampling = Sampling(temperature=temperature, seed=seed, max_tokens=max_tokens, **options.pop("sampling", {}))
        return ModelRequest(
            context=a_context(120),
            session_id=session,
            messages=(*messages, *more),
            sampling=sampling,
            photos=(photo,),
            tools=tools,
            **options,
        )

    return make


async def reply_to(engine, request):
    deltas = [delta async for delta in engine.generate(request)]
    ids = tuple(i for delta in deltas for i in delta.token_ids)
    return "".join(delta.text for delta in deltas), ids, deltas


async def test_the_vllm_engine_streams_token_ids_and_ends_with_usage(engine, request_for):
    text, ids, deltas = await reply_to(engine, request_for())
    assert len(deltas) > 3
    assert text
    last = deltas[-1]
    assert last.finish_reason in ("stop", "length")
    assert last.usage.completion_tokens == len(ids)
    assert last.usage.prompt_tokens > 200


async def test_the_vllm_engine_repeats_a_seed_and_differs_with_another(engine, request_for):
    first = (await reply_to(engine, request_for(seed=5)))[1]
    assert (await reply_to(engine, request_for(seed=5)))[1] == first
    assert (await reply_to(engine, request_for(seed=6)))[1] != first


async def test_a_conversation_beyond_the_context_is_refused_by_name_and_the_next_one_works(engine, request_for):
    long = Message(role="user", parts=(TextPart(text="a sign by the road " * 3000),))
    with pytest.raises(ModelError, match=r"maximum (context|model) length") as refused:
        await reply_to(engine, request_for(long, session="loc_long/0"))
    assert refused.value.fields["about"] == "context"
    assert "engine.max_model_len" in refused.value.fields["mend"]
    assert (await reply_to(engine, request_for()))[0]


async def test_log_probabilities_come_when_they_are_asked_for(engine, request_for):
    _, ids, deltas = await reply_to(engine, request_for(sampling={"logprobs": 0}))
    logprobs = [p for delta in deltas for p in delta.logprobs]
    assert len(logprobs) == len(ids)
    assert all(p <= 0 for p in logprobs)


async def test_sampling_settings_reach_the_engine(engine, request_for):
    _, greedy, _ = await reply_to(engine, request_for(temperature=0.0))
    _, narrow, _ = await reply_to(engine, request_for(temperature=1.0, sampling={"top_k": 1}))
    assert narrow == greedy
    text, _, _ = await reply_to(engine, request_for(temperature=0.0))
    stop = text[3:6]
    cut, _, deltas = await reply_to(engine, request_for(temperature=0.0, sampling={"stop": (stop,)}))
    assert stop not in cut
    assert deltas[-1].finish_reason == "stop"


async def test_a_schema_binds_the_output(engine, request_for):
    schema = {
        "type": "object",
        "properties": {
            "lat": {"type": "number", "minimum": -90, "maximum": 90},
            "city": {"type": "string", "pattern": "^[A-Z][a-z]{2,9}$"},
        },
        "required": ["lat", "city"],
        "additionalProperties": False,
    }  # fmt: skip
    text, _, _ = await reply_to(engine, request_for(json_schema=schema, max_tokens=120, tools=()))
    found = json.loads(text)
    assert set(found) == {"lat", "city"}
    assert found["city"].istitle()


async def test_an_adapter_is_asked_for_by_name(engine, request_for):
    plain = (await reply_to(engine, request_for(temperature=0.0)))[1]
    assert (await reply_to(engine, request_for(temperature=0.0, lora="geo")))[1] != plain
    assert (await reply_to(engine, request_for(temperature=0.0)))[1] == plain
    with pytest.raises(ModelError, match="there is no adapter 'other'; there are: geo"):
        await reply_to(engine, request_for(lora="other"))


async def test_turns_and_zoomed_pictures_hit_the_cache(engine, request_for, sign_photo):
    _, ids, deltas = await reply_to(engine, request_for(session="loc_cache/0"))
    before = deltas[-1].usage
    crop = ImageRef(sha256=sign_photo.sha256, width=400, height=240, box=Box(x0=0.1, y0=0.1, x1=0.6, y1=0.6))
    talk = (
        Message(role="assistant", token_ids=ids),
        Message(role="tool", parts=(TextPart(text="The region."), ImagePart(image=crop))),
    )
    _, _, deltas = await reply_to(engine, request_for(*talk, session="loc_cache/0"))
    after = deltas[-1].usage
    grown = before.prompt_tokens + before.completion_tokens
    assert after.prompt_tokens > grown + 50  # the zoomed picture
    assert after.cached_tokens >= grown // BLOCK * BLOCK - BLOCK
    known = engine.stats.pictures_known
    await reply_to(engine, request_for(*talk, session="loc_cache/1"))
    assert engine.stats.pictures_known >= known + 2


async def test_answers_are_forked_from_the_prompt_of_the_one_that_is_being_written(engine, request_for):
    request = request_for(session="loc_forks/0", tools=(), max_tokens=40, json_schema=NUMBER)
    deltas = engine.generate(request)
    first = await anext(deltas)
    before = token_counts(engine)
    texts, used = await engine.draw(request_for(session="loc_forks/0", tools=(), json_schema=NUMBER, seed=9), 4)
    prompts, cached = (now - then for now, then in zip(token_counts(engine), before, strict=True))
    text = first.text + "".join([delta.text async for delta in deltas])
    assert 1 <= json.loads(text)["lat"] <= 99999
    found = [json.loads(one)["lat"] for one in texts]
    assert len(found) == 4
    assert len(set(found)) > 1, "each has a seed of its own"
    one = used.prompt_tokens // 4
    assert (prompts, used.prompt_tokens) == (4 * one, 4 * one)
    assert cached == used.cached_tokens == 4 * ((one - 1) // BLOCK * BLOCK), "every whole block of all four prompts"
    alone = [
        await engine.draw(request_for(session=f"loc_forks/{i}", tools=(), json_schema=NUMBER, seed=9), 4)
        for i in range(2)
    ]
    assert alone[0][0] == alone[1][0], "the same seed draws the same"


async def test_cancelled_draws_are_all_aborted(engine, request_for):
    work = asyncio.ensure_future(engine.draw(request_for(max_tokens=3000), 4))
    while engine.running < 4:  # noqa: ASYNC110  the engine says nothing when it begins
        await asyncio.sleep(0.01)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    await asyncio.sleep(0.5)
    assert engine.running == 0
    assert (await reply_to(engine, request_for(max_tokens=4)))[1]


def token_counts(engine):
    return engine.stats.prompt_tokens, engine.stats.cached_tokens


async def test_the_cache_is_shared_by_another_photo_only_for_the_text_before_the_photo(
    engine, request_for, blank_photo
):
    await reply_to(engine, request_for())
    _, _, deltas = await reply_to(engine, request_for(photo=blank_photo, session="loc_other/0"))
    usage = deltas[-1].usage
    assert usage.cached_tokens < usage.prompt_tokens - 99, "the other photo's 99 tokens and what follows are new"


async def test_closing_the_iterator_aborts_the_generation(engine, request_for):
    deltas = engine.generate(request_for(max_tokens=3000))
    await anext(deltas)
    assert engine.running == 1
    await deltas.aclose()
    await asyncio.sleep(0.5)
    assert engine.running == 0
    assert (await reply_to(engine, request_for(max_tokens=4)))[1]


async def test_a_request_that_the_engine_refuses_fails_and_the_next_one_works(engine, request_for):
    with pytest.raises(ModelError):
        await reply_to(engine, request_for(text_message("user", "much " * 20_000)))
    with pytest.raises(ModelError, match="no adapter"):
        await reply_to(engine, request_for(lora="nobody"))
    assert (await reply_to(engine, request_for(max_tokens=4)))[1]


@pytest.mark.parametrize("mode", ["select", "synthesise"])
async def test_a_verifier_model_decides(engine, gazetteer, countries, blank_photo, mode):
    consensus = ConsensusVerifier(World(gazetteer, countries), shipped_calibration("default"))
    verifier = ModelVerifier(engine, consensus, VerifierConfig(kind="model", mode=mode, max_tokens=2400))
    request = VerifyRequest(a_context(120), (blank_photo,), LocateOptions(), even_runs())
    pieces = [piece async for piece in verifier.verify(request)]
    assert isinstance(pieces[-1], Verdict)
    assert not pieces[-1].abstained
    # its weights are random: how many reasons it writes, and which candidate it takes, differ between processors
    known = ("found no candidate with enough evidence", "own point was not used")
    assert all(any(words in warning for words in known) for warning in pieces[-1].warnings)
    assert any(isinstance(piece, VerdictText) and piece.text.strip() for piece in pieces)
    assert engine.running == 0


async def test_a_probe_asks_the_engine_that_is_loaded(engine, sign_photo, monkeypatch):
    """`routing.method: probe` with the engine in this process: no second one is started."""
    args = AppArgs(engine=VllmEngine(model="unused"), routing=RoutingConfig(method="probe"))
    before = len(psutil.Process().children(recursive=True))
    deltas: list[Delta] = []

    async def overheard(asked, generate=engine.generate):
        async for delta in generate(asked):
            deltas.append(delta)
            yield delta

    monkeypatch.setattr(engine, "generate", overheard)
    rated = await asking_locator(args, FixedLocator(0.4), engine).rate([sign_photo], a_context(120))
    assert deltas[-1].usage.completion_tokens > 0
    assert 0.0 <= rated.locatability.score <= 1.0
    assert len(psutil.Process().children(recursive=True)) == before


@pytest.mark.parametrize("content", [1.0, 0.1], ids=["a scene", "nothing to see"])
async def test_auto_starts_all_rollouts_with_tools_where_there_is_something_to_see(
    engine, sign_photo, content, data_store
):
    class Unread:
        async def rate(self, photos, context):
            return Routing(Locatability(score=0.05, method="cues", parts={"text": 0.0, "content": content}))

    args = AppArgs(engine=VllmEngine(model="unused"), limits=Limits(max_turns=2, max_tokens=64))
    rollouts = LocalRollouts(engine, LocalToolbox([zoom_tool()]), args)
    ports = Ports(
        Unread(), make_router(args), rollouts, make_verifier(args, engine), make_identity(args), make_watch(args)
    )
    request = a_request(sign_photo, n_parallel=4, stop="none")
    events = [item async for item in solve(request, ports, deadline_s=200.0) if not isinstance(item, Attachment)]
    started = [event.rollout_id for event in events if isinstance(event, RolloutStarted)]
    (routed,) = [event for event in events if isinstance(event, Routed)]
    assert sorted(started) == (list(range(4)) if content > 0.5 else [0])
    assert routed.plan.use_tools
    assert routed.plan.summary.startswith(
        "4 attempts of one model with tools" if content > 0.5 else "1 attempt with tools"
    )


class Unread:
    """Reads nothing off any photo: the worst case for a router."""

    async def read(self, photo, box, context, language=""):
        return Reading(photo_sha256=photo.sha256)


async def test_auto_starts_at_least_two_rollouts_with_tools_on_each_photo_without_text(engine, data_store):
    """The 48 development photos in which a person reads nothing, each shown small and spoken of briefly."""
    labels = DEFAULT_PHOTOS / "labels.jsonl"
    if not labels.is_file():
        pytest.skip("the development photos are not here (../shared/data/photos)")
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    files = [DEFAULT_PHOTOS / one["file"] for one in rows if not one["has_legible_text"]]
    assert len(files) == 48
    small = {"photo": {"max_pixels": 50_000}, "crop": {"max_pixels": 50_000}}
    args = AppArgs(
        engine=VllmEngine(model="unused"),
        limits=Limits(max_turns=2, max_tokens=16),
        dialect_settings=DialectSettings(pictures=PictureRules.model_validate(small)),
    )
    ports = Ports(
        CuesLocator(Unread()),
        make_router(args),
        LocalRollouts(engine, LocalToolbox([zoom_tool()]), args),
        make_verifier(args, engine),
        make_identity(args),
        make_watch(args),
    )

    async def events_of(file):
        request = a_request(load_photo(file.read_bytes()), n_parallel=4, stop="none")
        return [item async for item in solve(request, ports, deadline_s=200.0) if not isinstance(item, Attachment)]

    for file in files:
        events = await events_of(file)
        started = {event.rollout_id for event in events if isinstance(event, RolloutStarted)}
        spoke = {event.rollout_id for event in events if isinstance(event, TurnFinished)}
        (routed,) = [event for event in events if isinstance(event, Routed)]
        assert started == spoke == {0, 1, 2, 3}, file.name
        assert routed.plan.use_tools
        assert routed.plan.summary.startswith("4 attempts of one model with tools")


async def test_a_dead_engine_core_is_a_fatal_error_that_travels(engine, request_for):
    """Last: nothing works after it."""
    deltas = engine.generate(request_for(max_tokens=3000))
    assert isinstance(await anext(deltas), Delta)
    for process in psutil.Process().children(recursive=True):
        if "resource_tracker" not in " ".join(process.cmdline()):
            os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(FatalError) as death:
        async for _ in deltas:
            pass
    with pytest.raises(FatalError):
        await engine.check_health()
    again = pickle.loads(pickle.dumps(death.value))
    assert type(again) is type(death.value)
    assert again.code == "engine-died"
