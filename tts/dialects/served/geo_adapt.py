"""Geo-ADAPT 8B: adaptive depth, no tools (Qwen3-VL). It may say "Unknown".

"Unknown" is an abstention at the level that is still named. Where it is asked for its depth (`depth_tag`), what it says
travels with the hypothesis, so that the router can spend more on this photo.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from tts.dialects.base import Completion, ParsedTurn, Task
from tts.dialects.coordinate_parser import point_from, point_in
from tts.dialects.cue_words import cues_in
from tts.dialects.json_answer_parser import answer_from_json, json_objects
from tts.dialects.labelled_answer_parser import (
    answer_tags,
    known_name,
    labels_in,
    statement_of_labels,
    states_several,
)
from tts.dialects.settings import DialectSettings
from tts.dialects.stated_answer import StatedAnswer
from tts.dialects.text_dialect import TextDialect, split_thought
from tts.domain.cues import Cues
from tts.domain.plan import Limits
from tts.domain.similar_photo import SimilarPhoto

WantedDepth = Literal["short", "deep"]
_DEPTH = re.compile(r"<depth>\s*(short|deep)\s*</depth>|\bdepth\s*[:=]\s*\**(short|deep)\b", re.IGNORECASE)


_DEPTH_REQUEST = (
    "Begin the thought with <depth>short</depth> when one clear cue settles the place, or <depth>deep</depth> when "
    "weak cues have to be combined."
)


class GeoAdaptDialect(TextDialect):
    """One greedy turn, 0.7 in a fan-out. Three phases of reasoning: explicit cues, implicit cues, synthesis."""

    name = "geo_adapt"
    system = (
        "You locate a photo by reasoning alone. Inside <think></think> go through (1) explicit cues: landmarks, text, "
        "plates, flags; (2) implicit cues: landform, plants, buildings, dress, climate; (3) what they say together, "
        "from region to country to city to coordinates.\n"
        "Then answer:\n<answer>\nCountry: …\nCity: …\nEstimated Coordinates: latitude, longitude\n</answer>\n"
        "Write Unknown for what the photo cannot tell."
    )
    shows_similar = True
    own_limits = Limits(max_turns=2, max_tool_calls=0, max_tokens=4096)
    output_demand = "Write <answer> with Country, City and Estimated Coordinates; Unknown is allowed."
    answer_demand = "Write the <answer> now; Unknown is allowed."

    def with_settings(self, settings: DialectSettings) -> TextDialect:
        """With `depth_tag` the model is asked how much thought the photo needs; its own prompt does not ask."""
        made = super().with_settings(settings)
        if not settings.depth_tag:
            return made
        asked = made.prompt if made.prompt is not None else self.system
        return replace(made, prompt=f"{asked}\n{_DEPTH_REQUEST}")

    def _question_text(self, task: Task) -> str:
        """With the nearest photos of a gallery: at `{similar}` of a task file, else at the end."""
        asked, similar = super()._question_text(task), similar_text(task.similar)
        if "{similar}" in asked:
            return asked.replace("{similar}", similar).strip()
        return f"{asked}\n\n{similar}" if similar else asked

    def parse(self, completion: Completion, *, turn: int) -> ParsedTurn:
        """As any dialect; an answer also carries the thought and the depth that the model asks for."""
        parsed = super().parse(completion, turn=turn)
        if parsed.answer is None:
            return parsed
        wants = depth_flag(completion.text)
        thought, _ = split_thought(completion.text)
        answer = parsed.answer.model_copy(update={"wants_depth": wants, "reasoning": thought.strip()[:4000]})
        return ParsedTurn(answer=answer)

    def cues(self, text: str) -> Cues:
        """With the model's own judgement of depth."""
        return cues_in(text).model_copy(update={"wants_depth": depth_flag(text)})

    def read(self, reply: str, *, turn: int) -> ParsedTurn | None:
        """The last `<answer>` that can be read, as JSON where it is JSON; without such tags, the whole text, in which a
        draft may stand.
        """
        tagged = answer_tags(reply)
        for block in reversed(tagged or [reply]):
            if tagged and states_several(block):
                continue
            answer = answer_from_json(block) if any(json_objects(block)) else answer_in_block(block)
            if answer is not None:
                return ParsedTurn(answer=answer)
        return None


def similar_text(similar: tuple[SimilarPhoto, ...]) -> str:
    """A line for each photo, nearest first; empty for none."""
    if not similar:
        return ""
    lines = [
        f"{number}. {found.point.lat:.5f}, {found.point.lon:.5f} (similarity {found.similarity:.2f})"
        for number, found in enumerate(similar, 1)
    ]
    intro = (
        "Photos that look most like this one were taken at these places, nearest first. They may be of other places."
    )
    return "\n".join([intro, *lines])


def depth_flag(text: str) -> WantedDepth | None:
    """The depth the model says the photo needs, from its tag or a `Depth: …` line; the last one counts."""
    found = [tag or line for tag, line in _DEPTH.findall(text)]
    return ("deep" if found[-1].lower() == "deep" else "short") if found else None


def answer_in_block(block: str) -> StatedAnswer | None:
    """All three labels, each filled or Unknown. Coordinates that are neither a point nor Unknown are no answer."""
    labels = labels_in(block)
    where = labels.get("point")
    if where is None and "lat" not in labels:
        return None
    point = point_in(where) if where is not None else point_from(labels.get("lat"), labels.get("lon"))
    point_is_unknown = not known_name(where if where is not None else labels.get("lat"))
    if point is None and not point_is_unknown:
        return None
    return statement_of_labels(labels, point)
