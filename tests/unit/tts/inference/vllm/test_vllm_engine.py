"""The vllm engine above its seam: what it hands down, what it makes of what comes back. No vLLM is needed for this."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from support.basics import a_context
from support.dialect_rollouts import toolbox
from support.vllm_seam import SEARCH, Clock, Seam, deltas_of

from tts.aio import closing
from tts.config import VllmEngine
from tts.dialects.base import Task
from tts.dialects.served.generic import GenericDialect
from tts.domain.messages import ImagePart, Message, TextPart
from tts.domain.photo import Box
from tts.domain.tooling import ImageRef
from tts.domain.usage import Usage
from tts.errors import ConfigError, ModelError
from tts.inference.constrained_decoding import ANSWER_SCHEMA, forced_calls, turn_schema
from tts.inference.vllm.engine import VllmModel
from tts.inference.vllm.seam import Piece, _ChatTokenizer, engine_arguments
from tts.inference.vllm.shared_time import SharedTime
from tts.ports.closable import close_each
from tts.ports.engine_offers import ForksPrompts
from tts.ports.model_client import ModelRequest, Sampling


@pytest.fixture
def request_for(sign_photo):
    def make(*more, **fields):
        fields = {"tools": (SEARCH,), "photos": (sign_photo,)} | fields
        messages = (*GenericDialect().opening(Task(photos=(sign_photo,))), *more)
        return ModelRequest(a_context(), "loc_test/0", messages, Sampling(seed=1), **fields)

    return make


def model_over(seam, **config):
    return VllmModel(VllmEngine(model="m", **config), seam)


async def test_usage_ids_and_text_come_back(request_for):
    deltas = await deltas_of(model_over(Seam()), request_for())
    assert "".join(delta.text for delta in deltas) == "hello world"
    assert deltas[-1].finish_reason == "stop"
    assert deltas[-1].usage == Usage(prompt_tokens=50, cached_tokens=32, completion_tokens=11)
    assert sum(len(delta.token_ids) for delta in deltas) == 11


async def test_preempted_work_is_counted_in_tokens(request_for):
    seam = Seam("one ", "two ", "three", preemptions=(0, 1, 3))
    usage = (await deltas_of(model_over(seam), request_for()))[-1].usage
    assert usage.preempted_tokens == (50 + 4) + 2 * (50 + 8)


class Forks(Seam):
    """Writes a word for each draw in turn; the second draw never ends by itself."""

    async def generate(self, generation):
        self.given.append(generation)
        self.unfinished += generation.draws
        try:
            for word, finish in (("north ", None), ("south", "stop")):
                for draw in range(generation.draws):
                    ended = "length" if finish and draw == 1 else finish
                    yield Piece(f"{draw}{word}", (1, 2), ended, cached_tokens=48, prompt_tokens=50, draw=draw)
        finally:
            self.unfinished -= generation.draws


async def test_several_answers_are_one_generation_that_is_forked(request_for):
    seam = Forks()
    model = model_over(seam)
    offers: object = model
    assert isinstance(offers, ForksPrompts)
    assert offers.forks_prompts
    assert not model.cold().forks_prompts
    await deltas_of(model, request_for())
    texts, usage = await model.draw(request_for(), 3)
    assert texts == ("0north 0south", None, "2north 2south")
    assert usage == Usage(prompt_tokens=150, cached_tokens=144, completion_tokens=12)
    answered, forked = seam.given
    assert (answered.draws, forked.draws) == (1, 3)
    assert forked.token_ids == answered.token_ids
    assert [picture.uuid for picture in forked.pictures] == [picture.uuid for picture in answered.pictures]
    assert (model.running, model._gpu_time._n_running) == (0, 0)


async def test_calls_are_read_where_tools_are_offered(request_for):
    seam = Seam('Look: <tool_call>\n{"name": "search", "arguments": {"query": "x"}}\n</tool_call>')
    last = (await deltas_of(model_over(seam), request_for()))[-1]
    assert [(call.id, call.name, call.arguments) for call in last.tool_calls] == [
        ("call_0_0", "search", {"query": "x"})
    ]
    assert last.finish_reason == "tool_calls"
    last = (await deltas_of(model_over(seam), request_for(tools=(), listed_tools=(SEARCH,))))[-1]
    assert not last.tool_calls
    assert "".join(map(chr, seam.given[-1].token_ids)).startswith("1|"), "the tools stay listed"


async def test_pictures_are_named_by_content_box_and_size(request_for, sign_photo):
    box = Box(x0=0.1, y0=0.1, x1=0.6, y1=0.6)
    crop = ImageRef(sha256=sign_photo.sha256, width=400, height=240, box=box)
    drawn = ImageRef(sha256="cd" * 32, width=64, height=64)
    talk = Message(role="tool", parts=(TextPart(text="see"), ImagePart(image=crop)))
    seam = Seam()
    model = model_over(seam)
    for _ in range(2):
        await deltas_of(model, request_for(talk))
    first, second = seam.given
    assert [p.uuid for p in first.pictures] == [p.uuid for p in second.pictures]
    assert len({p.uuid for p in first.pictures}) == 2
    assert all(p.uuid.startswith(sign_photo.sha256) for p in first.pictures)
    assert first.pictures[1].image is second.pictures[1].image, "kept decoded"
    assert first.pictures[1].image.size == (400, 240)
    with pytest.raises(ModelError, match="gone"):
        await deltas_of(model, request_for(Message(role="tool", parts=(ImagePart(image=drawn),))))


async def test_closing_early_closes_the_engine_s_stream(request_for):
    seam = Seam("a", "b", "c")
    model = model_over(seam)
    async with closing(model.generate(request_for())) as deltas:
        await anext(deltas)
        assert model.running == 1
    assert model.running == 0


async def test_constrained_turns_are_calls_and_the_last_one_an_answer(request_for):
    seam = Seam('{"name": "search", "arguments": {"query": "x"}}')
    model = model_over(seam, constrain="turns")
    last = (await deltas_of(model, request_for()))[-1]
    assert last.tool_calls[0].name == "search"
    assert seam.given[-1].json_schema["properties"]["name"] == {"const": "search"}
    assert not (await deltas_of(model, request_for(tools=())))[-1].tool_calls
    assert seam.given[-1].json_schema == ANSWER_SCHEMA
    await deltas_of(model, request_for(json_schema={"type": "object"}))
    assert seam.given[-1].json_schema == {"type": "object"}, "what the caller wants wins"


async def test_adapters_priority_and_salt_are_passed_on(request_for):
    seam = Seam()
    model = VllmModel(VllmEngine(model="m", loras={"geo": "/x", "judge": "/y"}, lora="geo"), seam)
    await deltas_of(model, request_for())
    await deltas_of(model, request_for(lora="judge"))
    await deltas_of(model.cold(), request_for())
    assert [generation.lora for generation in seam.given] == ["geo", "judge", "geo"]
    assert [generation.cache_salt is None for generation in seam.given] == [True, True, False]
    assert len({generation.id for generation in seam.given[:2]}) == 2
    with pytest.raises(ValidationError):
        VllmEngine(model="m", lora="unknown")


def test_the_schema_of_a_constrained_call_requires_and_bounds_every_field():
    schema: Any = turn_schema((SEARCH,))
    arguments = schema["properties"]["arguments"]
    assert arguments["required"] == ["query", "kind", "limit"]
    assert arguments["properties"]["query"]["maxLength"] < 100
    assert arguments["properties"]["kind"] == {"enum": ["city", "road"], "type": "string"}
    assert arguments["properties"]["limit"] == {"type": "integer", "minimum": 1, "maximum": 9}
    (zoom,) = (schema for schema in toolbox().schemas() if schema.name == "image_zoom")
    zooming: Any = turn_schema((zoom,))
    bbox = zooming["properties"]["arguments"]["properties"]["bbox"]
    assert (bbox["minItems"], bbox["maxItems"]) == (4, 4)
    assert len(turn_schema((SEARCH, zoom))["anyOf"]) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', '{"arguments": {}}', '{"name": 3}'])
def test_a_forced_turn_that_was_cut_off_is_no_call(text):
    assert forced_calls(text, turn=1) == ()


def test_settings_reach_vllm_under_its_names_and_extra_wins():
    config = VllmEngine(
        model="m", tensor_parallel=2, eager=True, kv_cache_gb=2, loras={"a": "/a"}, extra={"dtype": "half", "seed": 3}
    )
    arguments = engine_arguments(config)
    assert arguments["tensor_parallel_size"] == 2
    assert arguments["enforce_eager"] is True
    assert arguments["kv_cache_memory_bytes"] == 2 * 2**30
    assert (arguments["enable_lora"], arguments["max_loras"]) == (True, 1)
    assert (arguments["dtype"], arguments["seed"]) == ("half", 3)
    assert json.dumps(arguments)


def test_generations_in_one_batch_share_the_time_of_the_engine():
    """Two overlap for 4 of 10 s: the charges add up to the 10 s in which the engine worked, idle time is free."""
    clock = Clock()
    shared = SharedTime(clock)
    clock.now = 5.0
    first = shared.start()
    clock.now = 8.0
    second = shared.start()
    clock.now = 12.0
    charged = [shared.charged_s(first)]
    shared.stop()
    clock.now = 15.0
    charged.append(shared.charged_s(second))
    shared.stop()
    clock.now = 99.0
    assert charged == [3 + 4 / 2, 4 / 2 + 3]
    assert shared.charged_s(shared.start()) == 0


async def test_an_engine_on_gpus_says_what_a_generation_cost_of_them(request_for):
    """It reaches `geotts_gpu_seconds_total` (`tests/real_vllm/test_service.py`); an engine on the CPU costs none."""
    seam = Seam()
    seam.gpus = 2
    last = (await deltas_of(model_over(seam), request_for()))[-1]
    assert last.usage.gpu_s > 0
    assert (await deltas_of(model_over(Seam()), request_for()))[-1].usage.gpu_s == 0


async def test_a_generation_that_is_closed_early_stops_costing(request_for):
    model = model_over(Seam("a", "b", "c"))
    async with closing(model.generate(request_for())) as deltas:
        await anext(deltas)
    assert model._gpu_time._n_running == 0


class Tokenizer:
    """Renders as `transformers` does."""

    eos_token_id = 2

    def __init__(self, chat_template="{% for message in messages %}{{ message.content }}{% endfor %}the checkpoint's"):
        self.chat_template = chat_template

    def encode(self, text, add_special_tokens):
        return [1]

    def apply_chat_template(self, messages, chat_template, **more):
        jinja2 = pytest.importorskip("jinja2")
        return jinja2.Environment(trim_blocks=True, lstrip_blocks=True).from_string(chat_template).render(
            messages=messages, add_generation_prompt=more["add_generation_prompt"], tools=more["tools"],
            raise_exception=_refused,
        )  # fmt: skip


def _refused(why):
    import jinja2

    raise jinja2.TemplateError(why)


def test_a_configured_chat_template_is_used_instead_of_the_checkpoints(tmp_path):
    template = tmp_path / "own.jinja"
    template.write_text("{{ messages | map(attribute='content') | join }} {{ tools }} the configured one")
    own = _ChatTokenizer(Tokenizer(), VllmEngine(model="m"))
    configured = _ChatTokenizer(Tokenizer(), VllmEngine(model="m", chat_template=template))
    assert (own.render([], None), own.lists_tools) == ("the checkpoint's", False)
    assert (configured.render([], None), configured.lists_tools) == (" None the configured one", True)
    with pytest.raises(ConfigError, match=r"engine\.chat_template"):
        _ChatTokenizer(Tokenizer(), VllmEngine(model="m", chat_template=tmp_path / "missing"))


LOSES_SYSTEM = (
    "{% if tools %}{{ messages[0].content }}{{ tools }}{% endif %}"
    "{% for message in messages[1:] %}{{ message.content }}{% endfor %}"
)


def test_a_template_that_loses_the_system_text_without_tools_is_found_and_mended(caplog):
    mended = _ChatTokenizer(Tokenizer(LOSES_SYSTEM), VllmEngine(model="made/up"))
    assert "loses the system text" in caplog.text
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Where?"}]},
    ]
    assert mended.render(messages, None) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>"
        "Where?<|im_end|>\n<|im_start|>assistant\n"
    )
    assert mended.lists_tools
    assert "<|im_start|>" not in mended.render(messages, [{"name": "x"}])  # with tools the template is whole


def test_a_chat_template_that_cannot_be_mended_stops_the_start():
    class Foreign(Tokenizer):
        def encode(self, text, add_special_tokens):
            return [1, 2, 3]

    refuses = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    with pytest.raises(ConfigError, match="loses the system text"):
        _ChatTokenizer(Foreign(refuses), VllmEngine(model="m"))


def test_the_released_template_of_reverse_is_mended():
    path = Path(os.environ.get("GEOTTS_RELEASED", "../shared/data/released")) / "reverse" / "prompts.json"
    if not path.is_file():
        pytest.skip("the corpus of released behaviour is not here")
    template = json.loads(path.read_text())["chat_template"]["text"]
    mended = _ChatTokenizer(Tokenizer(template), VllmEngine(model="m"))
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where?"}]
    assert "Be brief." in mended.render(messages, None)
    assert "Be brief." in mended.render(messages, [{"type": "function", "function": {"name": "x"}}])


async def test_closing_the_rollouts_ends_the_engine_process():
    seam = Seam()
    await close_each(model_over(seam))
    assert seam.closed == 1
