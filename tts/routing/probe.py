"""Asks the serving model itself, in one short call, how locatable a photo is (0–10) and whether it needs depth."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from tts.aio import closing
from tts.decision_weights import weights
from tts.dialects.base import user_message
from tts.domain.description import Description
from tts.domain.photo import Photo
from tts.domain.plan import Locatability
from tts.domain.request import RequestContext
from tts.errors import GeoTTSError
from tts.inference.usage_meter import Meter
from tts.ports.locator import Locator, Routing
from tts.ports.model_client import ModelClient, ModelRequest, Sampling
from tts.routing.predictor import DepthPredictor

_TIMEOUT_S = 8.0
_DEEP_PROBABILITY = weights("depth")["probe_deep"]
_QUICK_PROBABILITY = weights("depth")["probe_quick"]
_PROBE_PROMPT = (
    "How easily could an expert tell where this photo was taken? Reply with one line only: a whole number from 0 "
    "(nothing to go by) to 10 (unmistakable), then DEEP if maps and web search would help a lot, else QUICK."
)
_REPLY = re.compile(r"\b(10|\d)\b(?:\s*/\s*10)?")


class ProbeLocator:
    """The model's rating beside another locator's. A model that is slow, down, rambling or
    too dear leaves that one alone."""

    def __init__(self, model: ModelClient, beside: Locator, predictor: DepthPredictor | None = None) -> None:
        self._model = model
        self._other_locator = beside
        self._predictor = predictor

    async def rate(self, photos: Sequence[Photo], context: RequestContext) -> Routing:
        """Ask for at most a tenth of the time left. The cost of the question is reported even if it failed."""
        routing = await self._other_locator.rate(photos, context)
        request = ModelRequest(
            context=context,
            session_id=f"{context.id}/probe/0",
            messages=(user_message(_PROBE_PROMPT, tuple(photos)),),
            sampling=Sampling(temperature=0.0, max_tokens=16),
            photos=tuple(photos),
            readings=routing.readings,
        )
        descriptions: list[Description] = []
        meter = Meter(context.money_left_usd)
        reply = ""
        try:
            async with (
                asyncio.timeout(min(_TIMEOUT_S, 0.1 * context.remaining_s)),
                closing(meter.generate(self._model, request)) as deltas,
            ):
                async for delta in deltas:
                    descriptions += delta.described
                    reply += delta.text
        except (TimeoutError, GeoTTSError):
            reply = ""
        used = routing.usage + meter.usage
        routing = replace(routing, usage=used, described=tuple(descriptions))
        probed = parse_probe(reply)
        if probed is None:
            return routing
        rating, deep = probed
        other = routing.locatability
        parts = {**other.parts, "probe": rating, "deep": _DEEP_PROBABILITY if deep else _QUICK_PROBABILITY}
        wants = "it wants to search" if deep else "it can answer at once"
        sentence = f"the model rates how easy the photo is at {10 * rating:.0f} of 10 and says that {wants}"
        rated = Locatability(score=rating, method="probe", parts=parts, why=f"{sentence}; {other.why}")
        return replace(routing, locatability=self._predictor.refine(rated) if self._predictor else rated)


def parse_probe(reply: str) -> tuple[float, bool] | None:
    """Rating in [0, 1] and the depth flag; None when the reply has no rating."""
    found = _REPLY.search(reply)
    return None if found is None else (int(found.group(1)) / 10.0, "DEEP" in reply.upper())
