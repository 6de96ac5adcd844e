"""Two models in one rollout: an observer that sees describes pictures, and a planner that does not see thinks and calls
tools (SpotAgent).

The planner sees the conversation with a description in the place of every picture. When it zooms, the observer is
asked again: it gets the crop and the last text of the planner, which tells it what to look for. A description is made
once, of a photo for a request and of a crop for its rollout, so the planner's conversation only ever grows.

Rollouts of a request in one process wait until the first one has asked the observer. The description is emitted as
`described`, and the request passes it on (`RequestContext.described`) to groups in other replicas, to the verifier and
to a second attempt. The descriptions here are removed at the deadline of the request.

If money is limited, the maximum cost of the observer is computed before it is asked, and money for the planner's next
reply is kept back. If a crop cannot be paid, it is not described, and the planner gets a note; if the photo itself
cannot be paid, the rollout makes no turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from weakref import WeakValueDictionary
from zlib import crc32

from tts.aio import Send, closing, stream
from tts.dialects.text_dialect import split_thought
from tts.domain.description import Description
from tts.domain.messages import ImagePart, Message, Part, TextPart, text_message
from tts.domain.session_ids import session_of_rollout
from tts.domain.token_price import Price
from tts.domain.tooling import ImageRef
from tts.domain.usage import Usage
from tts.errors import ModelError, MoneySpent
from tts.inference.picture_scaling import size_of
from tts.inference.token_estimate import prompt_tokens_about
from tts.inference.usage_meter import Meter
from tts.ports.closable import close_each
from tts.ports.engine_offers import DrawsTogether, EngineCapacity, EngineHealth, EngineLoad, ForksPrompts
from tts.ports.model_client import Delta, ModelClient, ModelRequest, Sampling

_SCENE_PROMPT = """\
You describe a photo to a colleague who cannot see it and has to find out where it was taken. Go from the whole to \
the details: kind of place and landscape; buildings, road, vehicles, plants, light, people; then every piece of text, \
letter by letter, with its language or script, and every logo, number plate, sign and flag, each with the box where \
it stands as [x1, y1, x2, y2] {frame}. Say what you cannot make out. Do not guess the place."""
_DETAIL_PROMPT = """\
Your colleague, who cannot see the photo, asked for this part of it. Describe what it shows as exactly as you can, \
text letter by letter. Say what you cannot make out. Do not guess the place."""
_NO_MONEY_TEXT = "nothing: the money for looking at details is used up"
_MAX_TOKENS = 700
_SHORT_REPLY_TOKENS = 512  # tokens of a last turn with an answer
_MAX_QUESTION_CHARS = 1000

_Key = tuple[str, str, str]


class ModelWithObserver:
    """The `ModelClient` of such a pair. `spent` is the usage of the observer, `usage` that of the planner."""

    def __init__(self, planner: ModelClient, observer: ModelClient) -> None:
        self._planner = planner
        self._observer = observer
        self._descriptions: dict[_Key, tuple[str, float]] = {}
        self._locks: WeakValueDictionary[_Key, asyncio.Lock] = WeakValueDictionary()

    @property
    def name(self) -> str:
        """The names of both models."""
        return f"{self._planner.name} with {self._observer.name} as observer"

    @property
    def price(self) -> Price | None:
        """The planner's: it is the planner's conversation that grows, and that a rollout reckons with."""
        return _price_of(self._planner)

    @property
    def running(self) -> int | None:
        """Generations of both; None where one of them does not count its own."""
        planner, observer = (_running_requests(engine) for engine in (self._planner, self._observer))
        return None if planner is None or observer is None else planner + observer

    @property
    def kv_use(self) -> float | None:
        """Share of the KV cache in use of whichever has less room, 0 to 1; None where neither has a cache here."""
        return max((engine.kv_use for engine in self._checked_engines if engine.kv_use is not None), default=None)

    @property
    def kv_tokens(self) -> int | None:
        """The planner's: its conversations are those that grow."""
        return self._planner.kv_tokens if isinstance(self._planner, EngineCapacity) else None

    @property
    def kv_used_tokens(self) -> int:
        """The planner's."""
        return self._planner.kv_used_tokens if isinstance(self._planner, EngineCapacity) else 0

    @property
    def forks_prompts(self) -> bool:
        """Whether the planner does: it gives the answers."""
        return isinstance(self._planner, ForksPrompts) and self._planner.forks_prompts

    async def draw(self, request: ModelRequest, count: int) -> tuple[tuple[str | None, ...], Usage]:
        """Draw answers of the planner, if it can. See `DrawsTogether.draw`."""
        if not isinstance(self._planner, DrawsTogether):
            return (), Usage()
        meter = Meter(self._money_for_observer(request))
        blind = await self._replace_pictures_by_text(request, meter, _ignore)
        texts, usage = await self._planner.draw(blind, count)
        return texts, usage + meter.usage

    async def check_health(self) -> None:
        """Raises FatalError when one of them is gone: no turn can do without."""
        for engine in self._checked_engines:
            await engine.check_health()

    @property
    def _checked_engines(self) -> list[EngineHealth]:
        return [engine for engine in (self._planner, self._observer) if isinstance(engine, EngineHealth)]

    async def aclose(self) -> None:
        """Close the connections of both."""
        await close_each(self._planner, self._observer)

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Have new pictures described, then pass on the planner's turn. The planner gets text only."""
        async with aclosing(stream(partial(self._send_turn, request))) as deltas:
            async for delta in deltas:
                yield delta

    async def _send_turn(self, request: ModelRequest, send: Send[Delta]) -> None:
        meter = Meter(self._money_for_observer(request))
        blind = await self._replace_pictures_by_text(request, meter, send)
        left_usd = None if request.money_usd is None else request.money_usd - meter.usage.cost_usd
        async with closing(Meter(left_usd).generate(self._planner, blind)) as deltas:
            async for delta in deltas:
                await send(delta)

    def _money_for_observer(self, request: ModelRequest) -> float | None:
        """What is left when the planner has been paid for a short reply; None without a limit or without a price."""
        if request.money_usd is None or _price_of(self._observer) is None:
            return None
        price = self.price
        if price is None:
            return request.money_usd
        words = [message.model_copy(update={"parts": _texts(message)}) for message in request.messages]
        pictures = sum(len(message.images) for message in request.messages)
        read = prompt_tokens_about(words, request.tools) + _MAX_TOKENS * pictures
        return request.money_usd - price.cost_usd(Usage(prompt_tokens=read, completion_tokens=_SHORT_REPLY_TOKENS))

    async def _replace_pictures_by_text(self, request: ModelRequest, meter: Meter, send: Send[Delta]) -> ModelRequest:
        """The request with a description in the place of every picture."""
        written: list[Message] = []
        for at, message in enumerate(request.messages):
            parts: list[Part] = []
            for part in message.parts:
                if isinstance(part, ImagePart):
                    words = await self._description_of(part.image, request, request.messages[:at], meter, send)
                    width, height = size_of(part.image, request)
                    parts.append(TextPart(text=f"[picture, {width}x{height} pixels. The observer says: {words}]\n"))
                else:
                    parts.append(part)
            written.append(message.model_copy(update={"parts": tuple(parts)}))
        return replace(request, messages=tuple(written), photos=(), files={})

    async def _description_of(
        self, image: ImageRef, request: ModelRequest, before: Sequence[Message], meter: Meter, send: Send[Delta]
    ) -> str:
        is_whole = _is_whole(image, request)
        if is_whole and (known := request.context.described.get(image.sha256)) is not None:
            return known
        owner = request.context.id if is_whole else session_of_rollout(request.session_id)
        key = (owner, image.sha256, str(image.box))
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:  # rollouts that start together wait for the first one's question
            self._forget_expired()
            if (described := self._descriptions.get(key)) is not None:
                return described[0]
            try:
                words = await self._ask(_description_request(image, request, before), meter, send)
            except MoneySpent:
                if is_whole:
                    raise
                return _NO_MONEY_TEXT
            self._descriptions[key] = (words, _now() + request.context.remaining_s)
            if is_whole:
                await send(Delta(described=(Description(photo_sha256=image.sha256, text=words),)))
            return words

    def _forget_expired(self) -> None:
        """Let go of what belongs to requests whose time is over."""
        now = _now()
        self._descriptions = {key: described for key, described in self._descriptions.items() if described[1] > now}

    async def _ask(self, request: ModelRequest, meter: Meter, send: Send[Delta]) -> str:
        text: list[str] = []
        try:
            async with closing(meter.generate(self._observer, request)) as deltas:
                text += [delta.text async for delta in deltas]
        except ModelError as failure:
            await _send_usage(meter, send)
            raise type(failure)(f"the observer: {failure.detail}", **failure.fields) from failure
        await _send_usage(meter, send)
        words = split_thought("".join(text))[1].strip()
        if not words:
            raise ModelError("the observer described nothing: it sent an empty text")
        return words


async def _ignore(_: Delta) -> None:
    """For draws: the pictures were described before, and what a new one costs is in the meter."""


def _now() -> float:
    return asyncio.get_running_loop().time()


def _running_requests(model: ModelClient) -> int | None:
    return model.running if isinstance(model, EngineLoad) else None


def _price_of(model: ModelClient) -> Price | None:
    return getattr(model, "price", None)


async def _send_usage(meter: Meter, send: Send[Delta]) -> None:
    if (used := meter.take()) != Usage():
        await send(Delta(spent=used))


def _texts(message: Message) -> tuple[Part, ...]:
    return tuple(part for part in message.parts if isinstance(part, TextPart))


def _is_whole(image: ImageRef, request: ModelRequest) -> bool:
    return image.box is None and any(photo.sha256 == image.sha256 for photo in request.photos)


def _description_request(image: ImageRef, request: ModelRequest, before: Sequence[Message]) -> ModelRequest:
    """One question to the observer: a conversation of its own, greedy, so that looking twice shows the same."""
    whole = _is_whole(image, request)
    asked = next((message.text for message in reversed(before) if message.role == "assistant"), "")
    frame = f"in pixels of the {'x'.join(map(str, size_of(image, request)))} picture"
    question = _SCENE_PROMPT.replace("{frame}", frame) if whole else _DETAIL_PROMPT
    if asked and not whole:
        question += f"\nYour colleague wrote: {asked[-_MAX_QUESTION_CHARS:]!r}"
    root, _, rollout = session_of_rollout(request.session_id).rpartition("/")
    shown = Message(role="user", parts=(ImagePart(image=image), TextPart(text=question)))
    return replace(
        request,
        session_id=f"{root}/look-{image.sha256[:8]}-{crc32(str(image.box).encode()):08x}/{rollout}",
        messages=(text_message("system", "You look closely and report what is there."), shown),
        sampling=Sampling(temperature=0.0, seed=request.sampling.seed, max_tokens=_MAX_TOKENS),
        tools=(),
        listed_tools=None,
        json_schema=None,
    )
