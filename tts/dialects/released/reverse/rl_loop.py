"""The loop of REVERSE's reinforcement learning: the first call of a message runs, a message without one ends it.

Twenty messages, 8,192 tokens after the prompt with what tools return; a long text loses its middle. The answer is what
the reward reads in the whole response.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from tts.dialects.base import ParsedTurn
from tts.dialects.released.released_dialect import ReleasedDialect, is_text_of_tool
from tts.dialects.released.reverse.marks import marked_claims
from tts.dialects.released.reverse.point import point_of
from tts.dialects.released.reverse.served_tools import RL_SYSTEM, served_tools
from tts.dialects.released.thinking_with_map.tool_parser import calls_found
from tts.dialects.released.thinking_with_map.transcript import response_text
from tts.dialects.served_tool import ServedTool
from tts.dialects.settings import SamplingSettings
from tts.dialects.stated_answer import StatedAnswer
from tts.domain.hypothesis import Hypothesis, Level
from tts.domain.messages import Message
from tts.domain.picture_rules import PictureRules, ResizeRule
from tts.domain.plan import Limits
from tts.errors import ToolErrorKind
from tts.ports.toolbox import ToolOutcome
from tts.rewards.released.reverse_reward import read_for_reward

_MAX_RESPONSE_TOKENS: Final = 8192  # script/rl/geoloc/run_qwen3vl-4b_geoloc_coldstart_v5_dist.sh:85
_MAX_MESSAGES: Final = 20  # :120
_MAX_TEXT_CHARS: Final = 4000  # :122, max_tool_response_length; cut in the middle (rollout.yaml)
_CUT_MARK: Final = "...(truncated)..."
_SAMPLED_SETTINGS: Final = SamplingSettings(temperature=0.7)  # :114


@dataclass(frozen=True)
class ReverseTraining(ReleasedDialect):
    """Its searches are recorded ones: `tools.settings.tape` with `matching: reverse`."""

    name: ClassVar[str] = "reverse"
    served: ClassVar[tuple[ServedTool, ...]] = served_tools(RL_SYSTEM)
    own_limits: ClassVar[Limits] = Limits(
        max_turns=_MAX_MESSAGES, max_tool_calls=_MAX_MESSAGES, max_tokens=_MAX_RESPONSE_TOKENS
    )
    own_turn_tokens: ClassVar[int] = _MAX_RESPONSE_TOKENS
    own_pictures: ClassVar[PictureRules] = PictureRules(
        photo=ResizeRule(max_pixels=2048 * 1024), crop=ResizeRule(max_pixels=2**26)
    )
    own_single_sampling: ClassVar[SamplingSettings] = _SAMPLED_SETTINGS
    own_group_sampling: ClassVar[SamplingSettings] = _SAMPLED_SETTINGS
    counts_observations: ClassVar[bool] = True

    def parse_text(self, text: str, *, turn: int) -> ParsedTurn:
        """The first call of the message only."""
        return ParsedTurn(calls=calls_found(text, turn=turn)[:1])

    def result_text(self, outcome: ToolOutcome) -> str:
        """The tool's text, without its middle above 4,000 characters; other failures as the loop has them."""
        result = outcome.result
        if is_text_of_tool(result):
            return result.text if len(result.text) <= _MAX_TEXT_CHARS else _drop_middle(result.text)
        assert result.failure is not None
        if result.failure.kind is ToolErrorKind.UNKNOWN_TOOL:
            return f"Error when executing tool: {result.name!r}"
        return f"Error when executing tool: {result.failure.detail}"

    def to_hypothesis(self, stated: StatedAnswer, messages: Sequence[Message]) -> Hypothesis:
        """What was marked useful becomes evidence of the answer."""
        claims = (*stated.claims, *marked_claims(messages))
        return super().to_hypothesis(stated.model_copy(update={"claims": claims}), messages)

    def conclusion(self, messages: Sequence[Message]) -> ParsedTurn | None:
        """The position that the reward reads, without names; None when it reads none."""
        point = point_of(read_for_reward(response_text(messages)))
        return None if point is None else ParsedTurn(answer=StatedAnswer(point=point, level=Level.POINT))


def _drop_middle(text: str) -> str:
    half = _MAX_TEXT_CHARS // 2
    return f"{text[:half]}{_CUT_MARK}{text[-half:]}"
