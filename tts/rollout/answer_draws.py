"""Draws the answer of a rollout again from the same conversation, to see how far its answers lie apart.

The confidence that a model states is not reliable. The scatter of answers that are drawn from the same prefix is a
better measure. It costs little, because an engine with a prefix cache has already read the prompt (ADR 0047).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from tts.aio import Deadline, closing, run_all
from tts.decision_weights import weights
from tts.dialects.base import Completion, Dialect
from tts.domain.answer import StopReason
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.messages import Message, TextPart
from tts.domain.plan import Limits
from tts.domain.session_ids import session_of_draw
from tts.domain.usage import Usage
from tts.errors import GeoTTSError, ModelError, boundary
from tts.gen_ai import traced_generation
from tts.inference.token_estimate import prompt_tokens_about
from tts.ports.engine_offers import DrawsTogether
from tts.ports.model_client import ModelClient, ModelRequest
from tts.rollout.budget import RolloutBudget

_W = weights("rollouts")
_DRAW_TIME_SHARE = _W["draw_time"]
_DRAW_TEMPERATURE = _W["draw_temperature"]
_SEED_STEP = 7919  # a rollout counts its turns up from its seed
_MAX_ANSWER_LENGTHS = int(_W["draw_lengths"])


@dataclass(frozen=True, slots=True)
class AnswerDraws:
    """Points of the answers that were drawn again, None for one that names no point, and what they took."""

    points: tuple[LatLon | None, ...] = ()
    usage: Usage = Usage()


def are_wanted(limits: Limits, dialect: Dialect, stop: StopReason) -> bool:
    """Whether a rollout that ends so draws its answer again."""
    return (limits.answer_draws or 1) > 1 and stop is StopReason.ANSWERED and not dialect.released


async def draw_answers(
    model: ModelClient,
    dialect: Dialect,
    answered: ModelRequest,
    budget: RolloutBudget,
    deadline: Deadline,
    *,
    written_tokens: int | None = None,
) -> AnswerDraws:
    """Draw the answer to `answered` again, side by side, as often as the limits of the rollout say.

    `written_tokens` is the length of the answer; None while it is being written. A draw may have as many tokens as the
    turn of the answer, but at most twice as many as the answer, if its length is known (and at least
    `RolloutBudget.answer_tokens`).

    A draw that fails, is cut off or comes late is left out: the rollout has its answer without it. There are only as
    many as tokens and money pay for. An engine that gives several answers to one prompt is asked for them at once.
    Cancelling it aborts them in the engine.
    """
    wanted = (budget.limits.answer_draws or 1) - 1
    max_tokens = _max_tokens_per_draw(answered, budget, written_tokens)
    count = min(wanted, _affordable_tokens(wanted, answered, budget) // max_tokens)
    if count <= 0:
        return AnswerDraws()
    draws = _Draws()
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAW_TIME_SHARE * deadline.remaining_s()):
            await draws.draw_in_one_request(model, _joint_request(answered, max_tokens), count)
            missing = range(draws.joint_count, count)
            await run_all(
                [draws.draw_one(model, _repeated_request(answered, number, max_tokens)) for number in missing]
            )
    stated = [found for text in draws.texts if (found := _stated_answer(dialect, answered.messages, text)) is not None]
    return AnswerDraws(tuple(hypothesis.point for hypothesis in stated), draws.usage)


def can_pay_draws(answered: ModelRequest, budget: RolloutBudget) -> bool:
    """Whether tokens and money are enough for the longest answer to `answered` and for all its draws, as long as it."""
    count = budget.limits.answer_draws or 1
    return _affordable_tokens(count, answered, budget) >= count * answered.sampling.max_tokens


def _max_tokens_per_draw(answered_request: ModelRequest, budget: RolloutBudget, written_tokens: int | None) -> int:
    most = answered_request.sampling.max_tokens
    if written_tokens is not None:
        most = min(most, max(budget.answer_tokens, _MAX_ANSWER_LENGTHS * written_tokens))
    return max(1, most)


def _affordable_tokens(prompt_count: int, answered_request: ModelRequest, budget: RolloutBudget) -> int:
    """Tokens that may be written after the prompt has been read so many times."""
    prompt_tokens = prompt_tokens_about(
        answered_request.messages, answered_request.listed_tools or answered_request.tools
    )
    return budget.affordable_tokens(prompt_count * prompt_tokens)


class _Draws:
    """Texts of whole answers, how many the engine began in one request, and what all took."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.joint_count = 0
        self.usage = Usage()

    async def draw_in_one_request(self, model: ModelClient, request: ModelRequest, count: int) -> None:
        """As many as the engine gives in one request."""
        if not isinstance(model, DrawsTogether):
            return
        with suppress(GeoTTSError), boundary(ModelError, f"engine {model.name}"):
            texts, used = await model.draw(request, count)
            self.joint_count = len(texts)
            self.texts += [text for text in texts if text is not None]
            self.usage += used + Usage(model_calls=1) if texts or used.bytes_sent else used

    async def draw_one(self, model: ModelClient, request: ModelRequest) -> None:
        """One by itself."""
        text: list[str] = []
        with suppress(GeoTTSError), boundary(ModelError, f"engine {model.name}"):
            async with closing(traced_generation(model, request)) as deltas:
                async for delta in deltas:
                    text.append(delta.text)
                    if delta.usage is not None:
                        self.usage += delta.usage + Usage(model_calls=1)
                    if delta.finish_reason == "stop":
                        self.texts.append("".join(text))


def _joint_request(answered_request: ModelRequest, max_tokens: int) -> ModelRequest:
    """For all draws in one request, where the conversation is."""
    return replace(_repeated_request(answered_request, 0, max_tokens), session_id=answered_request.session_id)


def _repeated_request(answered_request: ModelRequest, number: int, max_tokens: int) -> ModelRequest:
    sampling = answered_request.sampling
    seed = None if sampling.seed is None else sampling.seed + _SEED_STEP * (number + 1)
    temperature = sampling.temperature or _DRAW_TEMPERATURE
    return replace(
        answered_request,
        session_id=session_of_draw(answered_request.session_id, number),
        sampling=sampling.model_copy(update={"seed": seed, "temperature": temperature, "max_tokens": max_tokens}),
    )


def _stated_answer(dialect: Dialect, messages: Sequence[Message], text: str) -> Hypothesis | None:
    """What a draw answers; None when it does something else, such as calling a tool."""
    turn = sum(message.role == "assistant" for message in messages)
    parsed = dialect.parse(Completion(text), turn=turn)
    if parsed.answer is None:
        return None
    written = Message(role="assistant", parts=(TextPart(text=text),))
    return dialect.to_hypothesis(parsed.answer, [*messages, written])
