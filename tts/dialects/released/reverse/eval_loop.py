"""The loop of REVERSE's evaluation: all calls of a message run in order, a thought without an action gets a reminder.

Up to eleven messages of the model (turns are counted from 0 to 10, reminders too); calls of the last one are not run. A
tool that is none of the three is passed over without a word. The answer is read in the last message only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from tts.dialects.base import Continuation, FinishedTurn, ParsedTurn
from tts.dialects.released.released_dialect import ReleasedDialect, is_text_of_tool
from tts.dialects.released.reverse.eval_tool_parser import IMAGE_SEARCH, TEXT_SEARCH, ZOOM, calls_written, kept_message
from tts.dialects.released.reverse.marks import marked_claims
from tts.dialects.released.reverse.point import point_of
from tts.dialects.released.reverse.served_tools import EVAL_SYSTEM, served_tools
from tts.dialects.served_tool import ServedTool
from tts.dialects.settings import SamplingSettings
from tts.dialects.stated_answer import StatedAnswer
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.messages import ImagePart, Message, TextPart, text_message
from tts.domain.picture_rules import PictureRules, ResizeRule
from tts.domain.plan import Limits
from tts.domain.text_between_marks import between_tags
from tts.domain.tooling import ToolResult
from tts.errors import ToolErrorKind
from tts.ports.model_client import Sampling
from tts.ports.toolbox import ToolOutcome
from tts.rewards.released.reverse_reward import names_for_tables, read_for_tables

_MAX_MESSAGES: Final = 11  # eval/run_eval_rl_checkpoint.sh:37, max_turns 10, counted from 0
_MAX_NEW_TOKENS: Final = 32_768  # eval/run_eval_rl_checkpoint.sh:152, of each message; there is no total
_MAX_CALLS: Final = 256
_ANSWER: Final = between_tags("answer")
_NAMES_IN_LIMITS: Final = {ZOOM: "crop", IMAGE_SEARCH: "search", TEXT_SEARCH: "tavily"}
_REMINDER: Final = "Call one tool, or answer inside <answer>Country, City, latitude, longitude</answer>."


@dataclass(frozen=True)
class ReleasedReverse(ReleasedDialect):
    """Greedy; the texts `nudge` is its reminder."""

    name: ClassVar[str] = "reverse"
    served: ClassVar[tuple[ServedTool, ...]] = served_tools(EVAL_SYSTEM)
    own_limits: ClassVar[Limits] = Limits(
        max_turns=_MAX_MESSAGES, max_tool_calls=_MAX_CALLS, max_tokens=_MAX_MESSAGES * _MAX_NEW_TOKENS
    )
    own_turn_tokens: ClassVar[int] = _MAX_NEW_TOKENS
    # photos at most 2,097,152 pixels, by LANCZOS (eval/eval_benchmark.py:525-532); crops as the tool made them
    own_pictures: ClassVar[PictureRules] = PictureRules(
        photo=ResizeRule(max_pixels=2048 * 1024, resample="lanczos"), crop=ResizeRule(max_pixels=2**26)
    )
    own_single_sampling: ClassVar[SamplingSettings] = SamplingSettings(temperature=0.0)
    own_group_sampling: ClassVar[SamplingSettings] = SamplingSettings(temperature=0.7)
    calls_per_turn: ClassVar[int] = 64
    calls_per_tool: ClassVar[Mapping[str, int]] = {ZOOM: 5, IMAGE_SEARCH: 3, TEXT_SEARCH: 5}
    counts_failed_calls: ClassVar[bool] = False

    def sampling(self, *, rollout_id: int, n: int, seed: int, turn: int, max_tokens: int) -> Sampling:
        """Whenever tools are sent, the closing tag stops the message (eval/eval_benchmark.py:669)."""
        drawn = super().sampling(rollout_id=rollout_id, n=n, seed=seed, turn=turn, max_tokens=max_tokens)
        return drawn.model_copy(update={"stop": ("</tool_call>",)})

    def parse_text(self, text: str, *, turn: int) -> ParsedTurn:
        """All calls of the message; if there are any, it stays in the conversation with its last call closed."""
        calls = calls_written(text, turn=turn)
        return ParsedTurn(calls=calls, stored_text=kept_message(text) if calls else None)

    def continue_after(self, turn: FinishedTurn) -> Continuation:
        """Results after calls; else the end, or the reminder where a thought has no answer and turns are left."""
        if turn.parsed.calls:
            return Continuation(self.observation(turn.outcomes))
        reply = turn.messages[-1].text
        if _ANSWER.search(reply) or "</think>" not in reply or turn.number >= turn.max_turns - 1:
            return Continuation(ends=True)
        return Continuation((text_message("user", self.text("nudge", _REMINDER)),))

    def observation(self, outcomes: tuple[ToolOutcome, ...]) -> tuple[Message, ...]:
        """A user message for each result; those of unknown tools are left out."""
        return tuple(self._tool_message(outcome) for outcome in outcomes if not _is_unknown_tool(outcome.result))

    def _tool_message(self, outcome: ToolOutcome) -> Message:
        """A user message: the picture, then the text between its tags."""
        images = tuple(ImagePart(image=image) for image in outcome.result.images)
        text = TextPart(text=f"<tool_response>\n{self.result_text(outcome)}\n</tool_response>")
        return Message(role="user", parts=(*images, text), result=outcome.result)

    def result_text(self, outcome: ToolOutcome) -> str:
        """The tool's text; other failures as the evaluation tells them."""
        result = outcome.result
        if result.failure is None:
            return result.text
        if result.failure.kind is ToolErrorKind.BUDGET and result.name in self.calls_per_tool:
            limit = self.calls_per_tool[result.name]
            return f"Tool call error: Maximum {_NAMES_IN_LIMITS[result.name]} calls ({limit}) exceeded"
        return result.text if is_text_of_tool(result) else f"Tool call error: {result.failure.detail}"

    def to_hypothesis(self, stated: StatedAnswer, messages: Sequence[Message]) -> Hypothesis:
        """What was marked useful becomes evidence of the answer."""
        claims = (*stated.claims, *marked_claims(messages))
        return super().to_hypothesis(stated.model_copy(update={"claims": claims}), messages)

    def conclusion(self, messages: Sequence[Message]) -> ParsedTurn | None:
        """The last two parts of the last answer in the last message."""
        reply = next((message.text for message in reversed(messages) if message.role == "assistant"), "")
        point = point_of(read_for_tables(reply))
        if point is None:
            return None
        country, city = names_for_tables(reply)
        return ParsedTurn(answer=StatedAnswer(point=point, level=Level.POINT, country=country, city=city))


def _is_unknown_tool(result: ToolResult) -> bool:
    return result.failure is not None and result.failure.kind is ToolErrorKind.UNKNOWN_TOOL
