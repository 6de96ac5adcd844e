"""What dialects have in common: own facts that a profile may override, tools under other names, tagged turns.

A dialect is a subclass that states its facts and says how an answer is read. It stays pure and immutable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from tts.clues.ruled_out_places import RuledOut
from tts.dialects.area_prompt import area_text
from tts.dialects.base import Completion, Continuation, FinishedTurn, ParsedTurn, Surroundings, Task, user_message
from tts.dialects.call_forms import as_hermes, bare_calls_in
from tts.dialects.continued_request_prompt import continued_text
from tts.dialects.cue_words import cues_in
from tts.dialects.hermes_tool_parser import FoundCalls, calls_in, tools_text, without_calls
from tts.dialects.json_answer_parser import object_at_end
from tts.dialects.labelled_answer_parser import answer_in_words, answer_tags
from tts.dialects.served_tool import Frame, ServedTool
from tts.dialects.settings import Coords, DialectSettings, SamplingSettings, read_schemas, read_text
from tts.dialects.stated_answer import StatedAnswer
from tts.dialects.testing_rollout_prompt import testing_text
from tts.domain.cues import Cues
from tts.domain.hypothesis import Hypothesis
from tts.domain.messages import ImagePart, Message, Part, TextPart, text_message
from tts.domain.photo import Photo
from tts.domain.picture_rules import PictureRules
from tts.domain.plan import Limits
from tts.domain.tooling import Datum, ToolCall
from tts.errors import ConfigError, ToolErrorKind
from tts.ports.model_client import Sampling
from tts.ports.toolbox import ToolOutcome, ToolSchema

_END_OF_ANSWER = re.compile(r"[}｝]|</answer>", re.IGNORECASE)
_ANSWER_MARK = re.compile(r"<\|(?:begin|end)_of_box\|>")


@dataclass(frozen=True)
class TextDialect:
    """The `Dialect` protocol over facts. Subclasses override whatever is theirs."""

    settings: DialectSettings = field(default_factory=DialectSettings)
    prompt: str | None = None
    task_text: str | None = None
    schema_overrides: tuple[ToolSchema, ...] | None = None

    name: ClassVar[str]
    system: ClassVar[str]
    question: ClassVar[str] = "Where was this photo taken?"
    served: ClassVar[tuple[ServedTool, ...]] = ()
    own_limits: ClassVar[Limits]
    published: ClassVar[bool] = True
    shows_similar: ClassVar[bool] = False
    own_pictures: ClassVar[PictureRules] = PictureRules()
    own_tools_in: ClassVar[Literal["template", "system_text"]] = "template"
    own_coords: ClassVar[Coords] = "thousand"
    own_datum: ClassVar[Datum] = "WGS-84"
    own_single_sampling: ClassVar[SamplingSettings] = SamplingSettings()
    own_group_sampling: ClassVar[SamplingSettings] = SamplingSettings(temperature=0.7, top_p=0.95)
    own_turn_tokens: ClassVar[int] = 2048
    released: ClassVar[bool] = False
    runs_last_calls: ClassVar[bool] = False
    counts_failed_calls: ClassVar[bool] = True
    calls_per_turn: ClassVar[int] = 1
    calls_per_tool: ClassVar[Mapping[str, int]] = {}
    counts_observations: ClassVar[bool] = False
    text_chars: ClassVar[int | None] = None
    pictures_first: ClassVar[bool] = False
    output_demand: ClassVar[str] = "Call a tool or answer."
    answer_demand: ClassVar[str] = "Answer now."

    def with_settings(self, settings: DialectSettings) -> TextDialect:
        """With a profile's changes; as released where they ask for it and the authors' code is known."""
        if settings.behaviour == "released" and not self.released:
            return self.as_released(settings).with_settings(settings)
        overrides = read_schemas(settings.tool_schema_file) if settings.tool_schema_file else None
        known = self.known_tools()
        if overrides is not None and (strange := sorted({schema.name for schema in overrides} - known)):
            raise ConfigError(f"{settings.tool_schema_file}: {self.name} has no tool {', '.join(strange)}")
        return replace(
            self,
            settings=settings,
            prompt=read_text(settings.prompt_file) if settings.prompt_file else None,
            task_text=read_text(settings.task_file) if settings.task_file else None,
            schema_overrides=overrides,
        )

    def known_tools(self) -> frozenset[str]:
        """Names that a file of tool schemas may have."""
        return frozenset(tool.name for tool in self.served)

    def as_released(self, settings: DialectSettings) -> TextDialect:
        """The dialect that does what the authors' loop does. Raises ConfigError where their code could not be had."""
        raise ConfigError(f"behaviour released: the code of {self.name} is not public; use behaviour served")

    def for_surroundings(self, surroundings: Surroundings) -> TextDialect:
        """This dialect, wherever the place."""
        return self

    def continue_after(self, turn: FinishedTurn) -> Continuation:
        """The results; it never ends a rollout."""
        return Continuation(self.observation(turn.outcomes))

    def conclusion(self, messages: Sequence[Message]) -> ParsedTurn | None:
        """Always None: the answer is read in its turn."""
        return None

    @property
    def limits(self) -> Limits:
        """Those of the settings, else the dialect's own."""
        return self.settings.limits or self.own_limits

    @property
    def pictures(self) -> PictureRules:
        """The rules of the settings, else its own; `boxes_in_pixels` is set where boxes are stated in pixels."""
        rules = self.settings.pictures or self.own_pictures
        in_pixels = (self.settings.coords or self.own_coords) == "pixels"
        return rules.model_copy(update={"boxes_in_pixels": True}) if in_pixels else rules

    @property
    def paper_mode(self) -> bool:
        """As the settings say; off by default."""
        return self.settings.paper_mode

    @property
    def datum(self) -> Datum:
        """Of the points that the model states and reads: as the settings say, else the dialect's own."""
        return self.settings.datum or self.own_datum

    @property
    def tools_in(self) -> Literal["template", "system_text"]:
        """Who lists the tools: the engine's chat template, or the system text."""
        return self.settings.tools_in or self.own_tools_in

    def opening(self, task: Task) -> tuple[Message, ...]:
        """The list of tools replaces `{tools}` in the system text, or follows it. An empty text makes no message."""
        system = self.prompt if self.prompt is not None else self.system
        listing = tools_text(task.tools) if task.tools and self.tools_in == "system_text" else ""
        if "{tools}" in system:
            system = system.replace("{tools}", listing)
        elif listing:
            system = f"{system}\n\n{listing}" if system else listing
        opening = (text_message("system", system),) if system else ()
        ruled_out = RuledOut.from_options(task.options).places
        about = (self._question_text(task), continued_text(task.continued, ruled_out), testing_text(task.testing))
        asked = "\n".join(text for text in about if text)
        return (*opening, user_message(asked, task.photos))

    def _question_text(self, task: Task) -> str:
        if self.task_text is not None:
            return self.task_text.replace("{hint}", task.options.hint or "").strip()
        lines = [self.question]
        if task.options.within is not None:
            lines.append(f"It lies {area_text(task.options.within)}.")
        if task.options.hint:
            lines.append(f"The sender adds, unchecked: {task.options.hint!r}")
        return "\n".join(lines)

    def schemas(self, available: tuple[ToolSchema, ...]) -> tuple[ToolSchema, ...]:
        """The served tools whose targets the toolbox has; of a file of schemas, those that it describes."""
        names = {schema.name for schema in available}
        mine = [tool for tool in self.served if tool.target in names]
        if self.schema_overrides is None:
            return tuple(tool.schema() for tool in mine)
        return tuple(schema for schema in self.schema_overrides if schema.name in {tool.name for tool in mine})

    def tools_to_list(self, schemas: tuple[ToolSchema, ...]) -> tuple[ToolSchema, ...]:
        """No tools where the system text lists them, else all."""
        return () if self.tools_in == "system_text" else schemas

    def sampling(self, *, rollout_id: int, n: int, seed: int, turn: int, max_tokens: int) -> Sampling:
        """Where a dialect is greedy alone, rollout 0 stays so in a fan-out; the others must differ."""
        alone = self.settings.alone or self.own_single_sampling
        single = n == 1 or (rollout_id == 0 and alone.temperature == 0.0)
        drawn = alone if single else self.settings.together or self.own_group_sampling
        return Sampling(
            **dict(drawn),
            seed=(seed * 1009 + turn) % 2**31,
            max_tokens=max(1, min(max_tokens, self.settings.turn_tokens or self.own_turn_tokens)),
        )

    def parse(self, completion: Completion, *, turn: int) -> ParsedTurn:
        """Native calls, else tagged calls, else an answer, else calls without tags, else a problem with its reason."""
        marked = self.marked_statement(completion.text)
        if completion.tool_calls:
            return ParsedTurn(calls=completion.tool_calls, hypothesis=marked)
        thought, reply = map(as_hermes, split_thought(completion.text))
        found = calls_in(reply, turn=turn)
        if found.calls:
            return ParsedTurn(calls=found.calls[: self.calls_per_turn], hypothesis=marked)
        answer = self.read(uncut(without_calls(reply), completion), turn=turn)
        if answer is not None:
            return answer
        bare = bare_calls_in(reply, turn=turn) if self.own_limits.max_tool_calls else FoundCalls()
        if bare.calls:
            return ParsedTurn(calls=bare.calls[: self.calls_per_turn], hypothesis=marked)
        inside = calls_in(thought, turn=turn)
        if inside.calls:
            return ParsedTurn(calls=inside.calls[: self.calls_per_turn], hypothesis=marked)
        late = self.read(self._answer_in_thought(thought, reply, completion), turn=turn)
        return late or ParsedTurn(problem=found.problem or inside.problem or self._problem(completion))

    def _answer_in_thought(self, thought: str, reply: str, completion: Completion) -> str:
        """Where an answer may stand in a thought: in tags, or at its end if the model ended there and said no more.

        A server that takes everything for a thought leaves no reply.
        """
        if "<answer>" in thought:
            return uncut(without_calls(thought), completion)
        return "" if reply.strip() or completion.truncated else object_at_end(without_calls(thought))

    def read(self, reply: str, *, turn: int) -> ParsedTurn | None:
        """The answer in what was said after thinking: by default the last `<answer>` with a point, in words."""
        for block in reversed(answer_tags(reply)):
            answer = answer_in_words(block)
            if answer is not None and answer.point is not None:
                return ParsedTurn(answer=answer)
        return None

    def marked_statement(self, text: str) -> StatedAnswer | None:
        """What a turn with calls says about earlier results; None for dialects that mark nothing."""
        return None

    def cues(self, text: str) -> Cues:
        """By the words of the text; the model is not asked for a depth."""
        return cues_in(text)

    def _problem(self, completion: Completion) -> str:
        if completion.truncated:
            return "your message was cut off before a tool call or an answer"
        wanted = "neither a tool call nor an answer" if self.served else "no answer"
        return f"your message has {wanted} that can be read"

    def to_hypothesis(self, stated: StatedAnswer, messages: Sequence[Message]) -> Hypothesis:
        """Only the point changes, to WGS-84."""
        return stated.hypothesis()

    def to_tool(self, call: ToolCall, photos: tuple[Photo, ...]) -> ToolCall:
        """By the served tool of that name; a call of an unknown tool stays as it is, to be refused."""
        tool = self._tool(call.name)
        return call if tool is None else tool.to_own_call(call, self._frame(photos))

    def _frame(self, photos: tuple[Photo, ...]) -> Frame:
        return Frame(photos, self.settings.coords or self.own_coords, self.pictures.photo, self.datum)

    def _tool(self, name: str) -> ServedTool | None:
        return next((tool for tool in self.served if tool.name == name), None)

    def observation(self, outcomes: tuple[ToolOutcome, ...]) -> tuple[Message, ...]:
        """One message for each result."""
        return tuple(self._tool_message(outcome) for outcome in outcomes)

    def _tool_message(self, outcome: ToolOutcome) -> Message:
        """As a tool message where the engine's template knows them, else as a user turn with its tags."""
        result = outcome.result
        text = self.result_text(outcome)
        if self.text_chars is not None and len(text) > self.text_chars:
            text = text[: self.text_chars] + "\n[truncated]"
        images = tuple(ImagePart(image=image) for image in result.images)
        if self.tools_in == "template" and not self.pictures_first:
            return Message(role="tool", parts=(TextPart(text=text), *images), result=result)
        return Message(role="user", parts=self._tagged_parts(text, images), result=result)

    def _tagged_parts(self, text: str, images: tuple[ImagePart, ...]) -> tuple[Part, ...]:
        if self.pictures_first:
            return (*images, TextPart(text=f"<tool_response>\n{text}\n</tool_response>"))
        if not images:
            return (TextPart(text=f"<tool_response>\n{text}\n</tool_response>"),)
        return (TextPart(text=f"<tool_response>\n{text}"), *images, TextPart(text="\n</tool_response>"))

    def result_text(self, outcome: ToolOutcome) -> str:
        """What the model reads. Wrong arguments are explained in the terms of the tool it called."""
        result = outcome.result
        tool = self._tool(result.name)
        if tool is not None and result.failure and result.failure.kind is ToolErrorKind.INVALID_ARGUMENTS:
            return f"Error: these arguments do not fit {tool.signature()}."
        return result.text

    def correction(self, problem: str) -> Message:
        """A user message: the problem, and what is wanted."""
        return text_message("user", f"That could not be used: {problem}. {self.output_demand}")

    def final_demand(self, reason: str) -> Message:
        """A user message; `reason` names what is used up, such as `turn budget`."""
        return text_message("user", f"The {reason} is used up: no more tools. {self.answer_demand}")


def released_loop(name: str, path: str | None, loops: Mapping[str, TextDialect]) -> TextDialect:
    """The loop of a `released_path`, the first where none is named. Raises ConfigError for one that there is not."""
    chosen = path or next(iter(loops))
    if chosen not in loops:
        raise ConfigError(f"{name} has no released_path {chosen!r}; there are: {', '.join(loops)}")
    return loops[chosen]


def uncut(text: str, completion: Completion) -> str:
    """The text of a completion without the line in which it was cut off, as the last number there may lack digits. A
    line in which an answer ends stays.
    """
    before, _, last = text.rpartition("\n")
    return before if completion.truncated and not _END_OF_ANSWER.search(last) else text


def split_thought(text: str) -> tuple[str, str]:
    """What stands inside `<think>` and what follows it. Without a closing tag everything may be thought and is both.

    The marks that GLM sets around what it answers are in neither.
    """
    text = _ANSWER_MARK.sub("", text)
    before, tag, after = text.rpartition("</think>")
    if tag:
        return before.partition("<think>")[2] or before, after
    opened = text.partition("<think>")
    return (opened[2], opened[0]) if opened[1] else ("", text)
