"""GeoVista's evaluation: six rounds, one call a round, five zooms and two searches that went well.

A round without a call ends the run, unless it is the fourth (no search so far: the model is told to search) or the
fifth (it is told to answer, even when it has). The answer is a place in words; it is geocoded here, as no released code
does during the run. What the loop says in those rounds is the authors' text and comes with their prompts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal

from pydantic import JsonValue

from tts.dialects.base import Continuation, FinishedTurn, ParsedTurn, Task
from tts.dialects.released.geovista.place_answer import place_answer
from tts.dialects.released.geovista.tool_parser import call_text, calls_written, kept_text
from tts.dialects.released.geovista.tool_texts import SYSTEM, error_text, too_often
from tts.dialects.released.released_dialect import ReleasedDialect, is_text_of_tool
from tts.dialects.released.tool_name import released_tool_name
from tts.dialects.released.written_call import WrittenCall, written_call
from tts.dialects.served_tool import ServedTool, keep_arguments
from tts.dialects.settings import Coords, SamplingSettings
from tts.domain.messages import ImagePart, Message, Part, TextPart
from tts.domain.photo import Photo
from tts.domain.picture_rules import PictureRules, ResizeRule
from tts.domain.plan import Limits
from tts.domain.tooling import ToolCall, ToolErrorKind, ToolResult
from tts.ports.toolbox import ToolOutcome

_ANSWER: Final = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL)
_SEARCH: Final = "search_web"
_ZOOM: Final = "image_zoom_in_tool"
# the photo as it is shown, and crops as the tool made them (eval/utils_agent_tool.py:29-31, 103-115)
_PHOTO_RULE: Final = ResizeRule(max_pixels=2048 * 1024)
_CROP_RULE: Final = ResizeRule(max_pixels=2**26)


@dataclass(frozen=True)
class ReleasedGeoVista(ReleasedDialect):
    """`search_hint` and `answer_demand` are the texts of the fourth and the fifth round."""

    name: ClassVar[str] = "geovista"
    system: ClassVar[str] = (
        "You find out where a photo was taken. Think inside <think></think>, then call one tool inside "
        "<tool_call></tool_call> or answer inside <answer></answer>.\n\n{tools}"
    )
    question: ClassVar[str] = "Where was this photo taken?"
    served: ClassVar[tuple[ServedTool, ...]] = (
        ServedTool(
            _ZOOM,
            released_tool_name("image_zoom", SYSTEM, _ZOOM),
            "Enlarge a region of the photo.",
            {"bbox_2d": {"type": "array", "description": "[x1, y1, x2, y2] in pixels of the photo as shown"}},
            ("bbox_2d",),
            keep_arguments,
        ),
        ServedTool(
            _SEARCH,
            released_tool_name("web_search", SYSTEM, _SEARCH),
            "Search the web.",
            {"query": {"type": "string", "description": "what to look for"}},
            ("query",),
            keep_arguments,
        ),
    )
    # eval/inference_agent_tool_mode.py:29-31: six rounds of one call, of them five zooms and two searches that worked
    own_limits: ClassVar[Limits] = Limits(max_turns=6, max_tool_calls=6, max_tokens=6 * 2048)
    own_turn_tokens: ClassVar[int] = 2048
    own_tools_in: ClassVar[Literal["template", "system_text"]] = "system_text"
    own_coords: ClassVar[Coords] = "pixels"
    own_pictures: ClassVar[PictureRules] = PictureRules(photo=_PHOTO_RULE, crop=_CROP_RULE)
    own_single_sampling: ClassVar[SamplingSettings] = SamplingSettings(temperature=0.7)
    own_group_sampling: ClassVar[SamplingSettings] = SamplingSettings(temperature=0.7)
    calls_per_tool: ClassVar[Mapping[str, int]] = {_ZOOM: 5, _SEARCH: 2}
    counts_failed_calls: ClassVar[bool] = False

    def opening(self, task: Task) -> tuple[Message, ...]:
        """The authors' system text describes the tools itself, so none are listed where it is imported."""
        listed = task if self.prompt is None or "{tools}" in self.prompt else replace(task, tools=())
        return super().opening(listed)

    def parse_text(self, text: str, *, turn: int) -> ParsedTurn:
        """The first object between tags, if it names a tool there is. An object without arguments has empty ones."""
        whole = next(iter(calls_written(text)), None)
        kept = kept_text(text)
        if not isinstance(whole, dict) or whole.get("name") not in (_ZOOM, _SEARCH):
            return ParsedTurn(stored_text=kept)
        return ParsedTurn(
            calls=(written_call(f"call_{turn}_0", str(whole["name"]), whole.get("arguments", {}), whole),),
            stored_text=kept,
        )

    def to_tool(self, call: ToolCall, photos: tuple[Photo, ...]) -> ToolCall:
        """Arguments as written. A zoom gets `scale` too: pixels of the photo for each pixel that was shown."""
        made = super().to_tool(call, photos)
        if call.name != _ZOOM or not photos:
            return made
        width, _ = self.pictures.photo.size(photos[0].width, photos[0].height)
        return made.model_copy(update={"arguments": {**made.arguments, "scale": photos[0].width / width}})

    def continue_after(self, turn: FinishedTurn) -> Continuation:
        """The results, and what the loop adds in this round, in one user message; ends where there is neither."""
        parts: list[Part] = []
        result: ToolResult | None = None
        for call, outcome in zip(turn.parsed.calls, turn.outcomes, strict=False):
            parts += self._response_parts(call, outcome)
            result = outcome.result
        if (reply := self._reminder(turn)) is not None:
            parts.append(TextPart(text=reply))
        if not parts:
            return Continuation(ends=True)
        return Continuation((Message(role="user", parts=tuple(parts), result=result),))

    def _reminder(self, turn: FinishedTurn) -> str | None:
        """What the loop adds after a round, counted from 1: in the last but one, and in the one before."""
        done = turn.number + 1
        if done == turn.max_turns - 1:
            return self.text("answer_demand", "Say now where the photo was taken; no more tools.")
        results = [message.result for message in turn.messages] + [outcome.result for outcome in turn.outcomes]
        searched = any(result is not None and result.ok and result.name == _SEARCH for result in results)
        if done != turn.max_turns - 2 or searched:
            return None
        return self.text("search_hint", "Look on the web for what you have seen.")

    def _response_parts(self, call: ToolCall, outcome: ToolOutcome) -> tuple[Part, ...]:
        result = outcome.result
        whole: JsonValue = (
            call.whole if isinstance(call, WrittenCall) else call.model_dump(include={"name", "arguments"})
        )
        if not result.ok:
            return (TextPart(text=f"<tool_response>{self.result_text(outcome)}</tool_response>"),)
        if result.name == _SEARCH:
            found = f"For {call_text(whole)}, the search results are as follows:\n{result.text}"
            return (TextPart(text=f"<tool_response>{found}</tool_response>"),)
        seen = (
            f"For the image, You have zoomed in on the following area: {call_text(whole)}, "
            "and the cropped image is as follows:"
        )
        images = tuple(ImagePart(image=image) for image in result.images)
        return (TextPart(text=f"<tool_response>{seen}"), *images, TextPart(text="</tool_response>"))

    def result_text(self, outcome: ToolOutcome) -> str:
        """The tool's text; for a failure the error and traceback that the evaluation shows."""
        result = outcome.result
        if result.failure is None:
            return result.text
        if result.failure.kind is ToolErrorKind.BUDGET and result.name in self.calls_per_tool:
            return error_text(result.name, too_often(result.name, self.calls_per_tool[result.name]))
        if is_text_of_tool(result):
            return error_text(result.name, result.failure.detail)
        what = "Search" if result.name == _SEARCH else "Crop"
        return error_text(result.name, f"{what} tool execution failed: {result.failure.detail}")

    def conclusion(self, messages: Sequence[Message]) -> ParsedTurn | None:
        """The place in the last message of the model: what stands in its last answer tag."""
        last = next((message.text for message in reversed(messages) if message.role == "assistant"), "")
        found = _ANSWER.findall(last)
        return place_answer(found[-1], turn=len(messages)) if found else None
