"""GeoAgent as released: one answer, no tools, and the reading that its rewards share.

Source: github.com/HVision-NKU/GeoAgent, commit 6e25f0866dce438e18ada3727536a1cc5a00e168 (CC BY-NC 4.0):
`infer/infer.py` asks once, `swift/plugin/orm.py` reads the first `<answer>`, else `FinalAnswer`. The answer is looked
up with the geocoder of that file, OpenCage, which drops the finest part as long as nothing is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from tts.dialects.base import Continuation, FinishedTurn, ParsedTurn
from tts.dialects.released.released_dialect import ReleasedDialect
from tts.dialects.released.tool_name import released_tool_name
from tts.dialects.settings import SamplingSettings
from tts.dialects.stated_answer import StatedAnswer
from tts.domain.hypothesis import Level
from tts.domain.messages import Message
from tts.domain.picture_rules import PictureRules, ResizeRule
from tts.domain.plan import Limits
from tts.domain.tooling import ToolCall
from tts.rewards.released.geoagent_answer import Names, answer_for_geocoding, names_in

_MAX_NEW_TOKENS: Final = 2048  # infer/infer.py, max_new_tokens
GEOCODER: Final = released_tool_name("geocode", "geoagent", "opencage")
"""The tool that looks an answer up: the model is not shown it."""
# The photo goes to the processor as it is, whose defaults apply (Qwen/Qwen2.5-VL-7B-Instruct, preprocessor_config.json:
# at most 12,845,056 pixels); a larger one is scaled before it is sent.
_RESIZE_RULE: Final = ResizeRule(max_pixels=12_845_056)


@dataclass(frozen=True)
class ReleasedGeoAgent(ReleasedDialect):
    """One greedy turn of at most 2,048 tokens."""

    name: ClassVar[str] = "geoagent"
    own_limits: ClassVar[Limits] = Limits(max_turns=1, max_tool_calls=0, max_tokens=_MAX_NEW_TOKENS)
    own_turn_tokens: ClassVar[int] = _MAX_NEW_TOKENS
    own_pictures: ClassVar[PictureRules] = PictureRules(photo=_RESIZE_RULE, crop=_RESIZE_RULE)
    own_single_sampling: ClassVar[SamplingSettings] = SamplingSettings()
    own_group_sampling: ClassVar[SamplingSettings] = SamplingSettings(temperature=0.7)  # tools/train_grpo.sh

    def parse_text(self, text: str, *, turn: int) -> ParsedTurn:
        """Nothing: there are no tools, and the answer is read by `conclusion`."""
        return ParsedTurn()

    def continue_after(self, turn: FinishedTurn) -> Continuation:
        """Ends the rollout: there is one turn."""
        return Continuation(ends=True)

    def conclusion(self, messages: Sequence[Message]) -> ParsedTurn | None:
        """The names in the last message, with addresses to look up; None when it names no country."""
        reply = next((message.text for message in reversed(messages) if message.role == "assistant"), "")
        answer = answer_for_geocoding(reply)
        names = names_in(answer or "")
        if not answer or not names.country:
            return None
        level = Level.CITY if names.place else Level.REGION if names.region else Level.COUNTRY
        stated = StatedAnswer(point=None, level=level, country=names.country, region=names.region, place=names.place)
        return ParsedTurn(answer=stated, lookups=_lookups(answer, names))


def _lookups(answer: str, names: Names) -> tuple[ToolCall, ...]:
    """The answer as it was written; then its names without the finest, where what was found lies in another country
    or the answer has full-width semicolons, at which the authors' geocoder does not part it.
    """
    parts = [part for part in names if part]
    shorter = ("; ".join(parts[:kept]) for kept in range(len(parts) - 1, 0, -1))
    return tuple(
        ToolCall(id=f"locate_{i}", name=GEOCODER, arguments={"address": address})
        for i, address in enumerate((answer, *shorter))
    )
