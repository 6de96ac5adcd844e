"""The second reader of GeoAgent's consistency reward: one question for each stage, with the conclusions before it.

A reply that cannot be read, or that echoes another id, is no conclusion; so is an engine that fails.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Final

from tts.aio import closing
from tts.domain.messages import text_message
from tts.domain.request import RequestContext
from tts.errors import GeoTTSError
from tts.eval.rewarding.rewarded_output import RewardedOutput
from tts.ports.model_client import ModelClient, ModelRequest, Sampling
from tts.rewards.released.geoagent_chain import Question, conclusion_of, questions, read_chain

OWN_WORDS: Final = (
    "You get the reasoning of one stage of locating a photo as JSON: id, stage (CountryIdentification, RegionalGuess "
    "or PreciseLocalization), Reasoning, and Previous conclusion where there is one. Say what place the reasoning "
    "leads to at that stage, in as few words as it has a name. Reply with JSON only: "
    '{"id": the same id, "Conclusion": "…"}'
)
# swift/plugin/orm.py:504-513 of GeoAgent: max_tokens 512, temperature 0.1, timeout 30 s
_MAX_TOKENS = 512
_TEMPERATURE = 0.1
_TIMEOUT_S = 30.0


def _new_id() -> str:
    return str(uuid.uuid4())


async def second_reading(
    output: RewardedOutput, model: ModelClient, *, prompt: str = OWN_WORDS, new_id: Callable[[], str] = _new_id
) -> list[str | None] | None:
    """What the reader concludes at the three stages; None for an output without a readable chain."""
    chain = read_chain(output.text)
    if chain is None:
        return None
    return [await _ask_reader(question, model, prompt, new_id()) for question in questions(chain)]


async def _ask_reader(question: Question, model: ModelClient, prompt: str, request_id: str) -> str | None:
    request = ModelRequest(
        context=RequestContext(id=request_id, remaining_s=_TIMEOUT_S),
        session_id=request_id,
        messages=(text_message("system", prompt), text_message("user", question.message(request_id))),
        sampling=Sampling(temperature=_TEMPERATURE, max_tokens=_MAX_TOKENS),
    )
    try:
        async with closing(model.generate(request)) as deltas:
            reply = "".join([delta.text async for delta in deltas])
    except GeoTTSError:
        return None
    return conclusion_of(reply.strip(), request_id)
