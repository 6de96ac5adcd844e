"""Two models in one rollout: an observer with eyes describes, a planner without thinks and calls tools (SpotAgent).

The planner sees the conversation with a description in the place of every picture. When it zooms, the observer looks
again: it gets the crop and the planner's last words, so that it knows what is asked of it. A description is made once,
of a photo for all rollouts of a request and of a crop for its rollout, so the planner's conversation only ever grows.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from weakref import WeakValueDictionary
from zlib import crc32

from tts.aio import Send, closing, stream
from tts.dialects.spoken import split_thought
from tts.domain.messages import ImagePart, Message, Part, TextPart, text_message
from tts.domain.tooling import ImageRef
from tts.domain.usage import Usage
from tts.errors import ModelError
from tts.inference.pictures import rule_for
from tts.ports import Delta, ModelClient, ModelRequest, Sampling, close_each

_SCENE = """\
You describe a photo to a colleague who cannot see it and has to find out where it was taken. Go from the whole to \
the details: kind of place and landscape; buildings, road, vehicles, plants, light, people; then every piece of text, \
letter by letter, with its language or script, and every logo, number plate, sign and flag, each with the box where \
it stands as [x1, y1, x2, y2] {frame}. Say what you cannot make out. Do not guess the place."""
_DETAIL = """\
Your colleague, who cannot see the photo, asked for this part of it. Describe what it shows as exactly as you can, \
text letter by letter. Say what you cannot make out. Do not guess the place."""
_MAX_TOKENS = 700
_MAX_QUESTION = 1000
_KEPT = 1024

_Key = tuple[str, str, str]


class ObservedModel:
    """The `ModelClient` of such a pair. Usage is that of both."""

    def __init__(self, planner: ModelClient, observer: ModelClient) -> None:
        self._planner, self._observer = planner, observer
        self._kept: OrderedDict[_Key, str] = OrderedDict()
        self._asking: WeakValueDictionary[_Key, asyncio.Lock] = WeakValueDictionary()

    @property
    def name(self) -> str:
        return f"{self._planner.name} with {self._observer.name} as observer"

    async def aclose(self) -> None:
        """Close the connections of both."""
        await close_each(self._planner, self._observer)

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        async with aclosing(stream(partial(self._think, request))) as deltas:
            async for delta in deltas:
                yield delta

    async def _think(self, request: ModelRequest, send: Send[Delta]) -> None:
        messages, spent = await self._described(request, send)
        blind = replace(request, messages=messages, photos=(), files={})
        async with closing(self._planner.generate(blind)) as deltas:
            async for delta in deltas:
                await send(delta if delta.usage is None else replace(delta, usage=delta.usage + spent))

    async def _described(self, request: ModelRequest, send: Send[Delta]) -> tuple[tuple[Message, ...], Usage]:
        """The conversation in words, and what the observer spent on pictures it had not seen yet."""
        spent = Usage()
        written: list[Message] = []
        for at, message in enumerate(request.messages):
            parts: list[Part] = []
            for part in message.parts:
                if isinstance(part, ImagePart):
                    words, cost = await self._look(part.image, request, request.messages[:at], send)
                    spent += cost
                    width, height = rule_for(part.image, request).size(part.image.width, part.image.height)
                    parts.append(TextPart(text=f"[picture, {width}x{height} pixels. The observer says: {words}]\n"))
                else:
                    parts.append(part)
            written.append(message.model_copy(update={"parts": tuple(parts)}))
        return tuple(written), spent

    async def _look(
        self, image: ImageRef, request: ModelRequest, before: Sequence[Message], send: Send[Delta]
    ) -> tuple[str, Usage]:
        whose = request.context.id if _is_whole(image, request) else request.session_id
        key = (whose, image.sha256, str(image.box))
        lock = self._asking.setdefault(key, asyncio.Lock())
        async with lock:  # rollouts that start together wait for the first one's question
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return kept, Usage()
            words, usage = await self._ask(_look_request(image, request, before), send)
            self._kept[key] = words
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return words, usage

    async def _ask(self, request: ModelRequest, send: Send[Delta]) -> tuple[str, Usage]:
        text: list[str] = []
        usage = Usage()
        try:
            async with closing(self._observer.generate(request)) as deltas:
                async for delta in deltas:
                    if delta.is_aside:
                        await send(Delta(sent=delta.sent, spent=delta.spent))
                    text.append(delta.text)
                    usage = delta.usage or usage
        except ModelError as failure:
            raise _of_observer(failure) from failure
        words = split_thought("".join(text))[1].strip()
        if not words:
            raise ModelError("the observer said nothing")
        return words, usage + Usage(model_calls=1)


def _of_observer(failure: ModelError) -> ModelError:
    """The same failure under its own name and with its own settings: flags name the endpoint of the engine."""
    mend = str(failure.fields.get("mend", "")).replace("engine.", "observer.")
    mend = mend.replace(", --endpoint", "").replace(", --model", "")
    mend = mend.replace("--endpoint", "observer.base_url").replace("--model", "observer.model")
    return type(failure)(f"the observer: {failure.detail}", **{**failure.fields, "mend": mend})


def _is_whole(image: ImageRef, request: ModelRequest) -> bool:
    return image.box is None and any(photo.sha256 == image.sha256 for photo in request.photos)


def _look_request(image: ImageRef, request: ModelRequest, before: Sequence[Message]) -> ModelRequest:
    """One question to the observer: a conversation of its own, greedy, so that looking twice shows the same."""
    whole = _is_whole(image, request)
    asked = next((message.text for message in reversed(before) if message.role == "assistant"), "")
    frame = f"in pixels of the {'x'.join(map(str, rule_for(image, request).size(image.width, image.height)))} picture"
    question = _SCENE.replace("{frame}", frame) if whole else _DETAIL
    if asked and not whole:
        question += f"\nYour colleague wrote: {asked[-_MAX_QUESTION:]!r}"
    root, _, rollout = request.session_id.rpartition("/")
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
