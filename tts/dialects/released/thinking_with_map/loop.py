"""What the loop of training and that of the notebook have in common: prompt, pictures, sets of tools, the answer."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tts.dialects.base import ParsedTurn
from tts.dialects.json_answer_parser import stated_answer
from tts.dialects.released.released_dialect import ReleasedDialect
from tts.dialects.released.thinking_with_map.own_prompt import QUESTION, SYSTEM
from tts.dialects.released.thinking_with_map.transcript import response_text
from tts.dialects.served_tool import ServedTool
from tts.domain.messages import Message
from tts.domain.picture_rules import PictureRules, ResizeRule
from tts.domain.tooling import Datum
from tts.ports.toolbox import ToolSchema
from tts.rewards.released.thinking_with_map_reward import first_object


@dataclass(frozen=True)
class ThinkingWithMapLoop(ReleasedDialect, ABC):
    """`tool_set` is one of the `sets`."""

    tool_set: str = "amap"

    name: ClassVar[str] = "thinking_with_map"
    system: ClassVar[str] = SYSTEM
    question: ClassVar[str] = QUESTION
    sets: ClassVar[Mapping[str, tuple[ServedTool, ...]]]
    # Crops and maps reach the processor as the tools made them; photos by the defaults of the checkpoint's processor
    # (preprocessor_config.json of Qwen/Qwen3-VL-30B-A3B-Instruct: longest_edge 16,777,216 pixels).
    own_pictures: ClassVar[PictureRules] = PictureRules(
        photo=ResizeRule(max_pixels=16_777_216), crop=ResizeRule(max_pixels=2**26)
    )

    @property
    def served(self) -> tuple[ServedTool, ...]:  # type: ignore[override]
        """The tools of the chosen set."""
        return self.sets[self.tool_set]

    @property
    def datum(self) -> Datum:
        """AMap states points in GCJ-02 and the model repeats them; Google's are WGS-84."""
        return self.settings.datum or ("GCJ-02" if self.tool_set == "amap" else "WGS-84")

    def known_tools(self) -> frozenset[str]:
        """Those of all sets: one file of schemas may describe them all."""
        return frozenset(tool.name for tools in self.sets.values() for tool in tools)

    def schemas(self, available: tuple[ToolSchema, ...]) -> tuple[ToolSchema, ...]:
        """The set as far as the toolbox has it, in the set's order."""
        order = [tool.name for tool in self.served]
        return tuple(sorted(super().schemas(available), key=lambda schema: order.index(schema.name)))

    def conclusion(self, messages: Sequence[Message]) -> ParsedTurn | None:
        """The answer in the first JSON object of the whole response that has the keys of one; None without it."""
        value = first_object(response_text(messages))
        answer = stated_answer(value) if value is not None else None
        return None if answer is None else ParsedTurn(answer=answer.model_copy(update={"datum": self.datum}))
