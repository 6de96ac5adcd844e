"""The loop of training and of the released test script: one set of tools, the first call of a turn, no second chance.

A turn without a call ends the rollout; so do the eighth turn (its calls are not run), 4,096 tokens after the prompt,
and a tool result that would reach them. The answer is the first strict object of the whole response.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from tts.dialects.base import ParsedTurn, Surroundings
from tts.dialects.released.released_dialect import is_text_of_tool
from tts.dialects.released.thinking_with_map.loop import ThinkingWithMapLoop
from tts.dialects.released.thinking_with_map.tool_parser import calls_found
from tts.dialects.released.thinking_with_map.tool_sets import BY_PLACE, TOOL_SETS
from tts.dialects.served_tool import ServedTool
from tts.dialects.settings import DialectSettings, SamplingSettings
from tts.dialects.text_dialect import TextDialect
from tts.domain.geo import BBox, Circle, Countries, LatLon
from tts.domain.plan import Limits
from tts.domain.tooling import ToolErrorKind, ToolResult
from tts.errors import ConfigError
from tts.geodata.datum import in_mainland_china
from tts.ports.toolbox import ToolOutcome

_MAX_TEXT_CHARS: Final = 1024  # test_thinking_with_map.sh:85, max_tool_response_length
_CUT_MARK: Final = "...(truncated)"


@dataclass(frozen=True)
class ReleasedThinkingWithMap(ThinkingWithMapLoop):
    """`tool_set` is amap, google, zoom_and_search, zoom_only, or place: amap in China and google elsewhere."""

    sets: ClassVar[Mapping[str, tuple[ServedTool, ...]]] = TOOL_SETS
    own_limits: ClassVar[Limits] = Limits(max_turns=8, max_tool_calls=8, max_tokens=4096)
    own_turn_tokens: ClassVar[int] = 4096
    # rollout.yaml and train_thinking_with_map.sh:105-109: one run is greedy, the four of a validation sample
    own_single_sampling: ClassVar[SamplingSettings] = SamplingSettings(temperature=0.0)
    own_group_sampling: ClassVar[SamplingSettings] = SamplingSettings(temperature=1.0, top_p=0.95, top_k=60)
    counts_observations: ClassVar[bool] = True

    def with_settings(self, settings: DialectSettings) -> TextDialect:
        """Also with the set of tools that the settings name, else by place. Raises ConfigError for an unknown set."""
        chosen = settings.tool_set or BY_PLACE
        if chosen != BY_PLACE and chosen not in TOOL_SETS:
            raise ConfigError(f"thinking_with_map has no tool_set {chosen!r}; there are: {', '.join(TOOL_SETS)}, place")
        # before a request is known the set for the world stands, so that its texts can be named in the provenance
        known = replace(self, tool_set="google" if chosen == BY_PLACE else chosen)
        return super(ReleasedThinkingWithMap, known).with_settings(settings)

    def for_surroundings(self, surroundings: Surroundings) -> TextDialect:
        """One of the two sets, never both: by the leader of earlier rollouts, else by the area the caller named."""
        if (self.settings.tool_set or BY_PLACE) != BY_PLACE:
            return self
        return replace(self, tool_set="amap" if _is_in_china(surroundings) else "google")

    def parse_text(self, text: str, *, turn: int) -> ParsedTurn:
        """The first call of the message only."""
        return ParsedTurn(calls=calls_found(text, turn=turn)[:1])

    def result_text(self, outcome: ToolOutcome) -> str:
        """The first 1,024 characters of the tool's text; what else fails as the authors' client reports it."""
        result = outcome.result
        if not is_text_of_tool(result):
            return _failure_text(result)
        return result.text if len(result.text) <= _MAX_TEXT_CHARS else f"{result.text[:_MAX_TEXT_CHARS]}{_CUT_MARK}"


def _failure_text(result: ToolResult) -> str:
    """What the authors' client says of an unknown tool, and of a tool server that does not answer."""
    assert result.failure is not None
    if result.failure.kind is ToolErrorKind.UNKNOWN_TOOL:
        return f"Error when executing tool: {result.name!r}"
    if result.name.endswith("_map"):
        # the released client trips over a variable of its own there (map_tool.py:445), and the model reads that
        unbound = "cannot access local variable 'metrics' where it is not associated with a value"
        return f'{{"result": "API call execution failed: {unbound}"}}'
    query_type = f"QueryType.{result.name.upper()}"
    return f'{{"result": "{query_type} API call error: API Call Failed: Connection Error: {result.failure.detail}"}}'


def _is_in_china(surroundings: Surroundings) -> bool:
    if surroundings.leader is not None:
        return in_mainland_china(surroundings.leader)
    area = surroundings.within
    if isinstance(area, Countries):
        return area.codes == ("CN",)
    if isinstance(area, Circle):
        return in_mainland_china(area.centre)
    if isinstance(area, BBox) and area.west < area.east:
        return in_mainland_china(LatLon(lat=(area.south + area.north) / 2, lon=(area.west + area.east) / 2))
    return False
