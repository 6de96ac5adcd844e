"""When the draws of a rollout are made: after its answer, or beside it where the engine forks prompts.

Beside it they begin with the first token of the answer, because the prompt is in the engine's cache then, and every
step of the engine writes a token of the answer and of each draw. It must be known that the turn is the last one.
"""

from __future__ import annotations

import asyncio

from tts.aio import Deadline, cancel_and_wait, spawn
from tts.dialects.base import Dialect
from tts.domain.answer import StopReason
from tts.domain.geo import LatLon
from tts.domain.usage import NO_USAGE, Usage
from tts.inference.token_estimate import usage_about
from tts.ports.engine_offers import ForksPrompts
from tts.ports.model_client import Delta, ModelClient, ModelRequest
from tts.rollout.answer_draws import AnswerDraws, are_wanted, can_pay_draws, draw_answers
from tts.rollout.budget import RolloutBudget


class AnswerDrawing:
    """The draws of one rollout. In the last `reserve_s` seconds nothing is drawn beside the answer."""

    def __init__(self, model: ModelClient, dialect: Dialect, deadline: Deadline, reserve_s: float) -> None:
        self._model = model
        self._dialect = dialect
        self._deadline = deadline
        self._reserve_s = reserve_s
        self._answered_request: ModelRequest | None = None
        self._tokens_before_answer = 0  # what the rollout had written before the reply to it
        self._drawing_task: asyncio.Task[AnswerDraws] | None = None
        self._prompt_usage = NO_USAGE  # what the draws beside the answer read
        self._draws = AnswerDraws()

    @property
    def points(self) -> tuple[LatLon | None, ...]:
        """Of the draws that were taken."""
        return self._draws.points

    def observe(self, delta: Delta, request: ModelRequest, budget: RolloutBudget, *, last: bool) -> None:
        """Take note that the engine writes the reply to `request`; fork it if no turn comes after this one. What an
        observer does before the reply is no part of it.
        """
        if request is self._answered_request or delta.described or delta.spent is not None:
            return
        self._answered_request = request
        self._tokens_before_answer = budget.usage.completion_tokens
        if last and self._drawing_task is None and self._may_draw_beside_answer(request, budget):
            work = draw_answers(self._model, self._dialect, request, budget, self._deadline)
            self._drawing_task = spawn(work, name=f"draws of {request.session_id}")
            self._prompt_usage = _estimate_prompt_usage(request, budget)

    async def take(self, stop: StopReason, budget: RolloutBudget) -> Usage:
        """Have the draws of a rollout that ends so. Returns what they used; nothing is drawn for one that did not
        answer.
        """
        if self._answered_request is None or not are_wanted(budget.limits, self._dialect, stop):
            return NO_USAGE
        if self._drawing_task is not None:
            self._draws = await self._drawing_task
            self._drawing_task = None
        else:
            written = budget.usage.completion_tokens - self._tokens_before_answer
            self._draws = await draw_answers(
                self._model, self._dialect, self._answered_request, budget, self._deadline, written_tokens=written
            )
        return self._draws.usage

    async def aclose(self) -> Usage:
        """Abort what still runs. Returns what the draws used that were not taken: of aborted ones, which cannot say it,
        their prompts by estimate.
        """
        if self._drawing_task is None:
            return NO_USAGE
        await cancel_and_wait(self._drawing_task)
        is_complete = not self._drawing_task.cancelled() and self._drawing_task.exception() is None
        return self._drawing_task.result().usage if is_complete else self._prompt_usage

    def _may_draw_beside_answer(self, request: ModelRequest, budget: RolloutBudget) -> bool:
        if not are_wanted(budget.limits, self._dialect, StopReason.ANSWERED):
            return False
        forks = isinstance(self._model, ForksPrompts) and self._model.forks_prompts
        return forks and self._deadline.remaining_s() >= self._reserve_s and can_pay_draws(request, budget)


def _estimate_prompt_usage(request: ModelRequest, budget: RolloutBudget) -> Usage:
    """About what an engine reads that is asked once for all draws: the prompt counts for each."""
    count = (budget.limits.answer_draws or 1) - 1
    one = usage_about(request.messages, request.tools, "", budget.price)
    return Usage(model_calls=1, prompt_tokens=count * one.prompt_tokens, cost_usd=count * one.cost_usd)
