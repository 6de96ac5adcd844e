"""The embedded engine: no GPU, no key, no download. It reads signs, weighs their clues, and makes the most
useful tool calls.

It speaks the `generic` dialect like any model: text, tool calls, a JSON answer, sampled by temperature and seed. A turn
does one of two things: make the most informative tool calls (enlarge what is too small to read, look a name up inside
the likeliest country, check a point), or answer with the point of the highest expected accuracy, or with none.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from tts.clues.belief import Belief
from tts.clues.belief_with_caller import belief_with_caller
from tts.clues.clue_reader import ClueReader, Leads
from tts.clues.conclusion import is_worth_a_point
from tts.clues.hints import hint_of
from tts.clues.lookups import pair_lookups
from tts.clues.mentions import Mention, with_weight
from tts.clues.ruled_out_places import RuledOut
from tts.config import CluesEngine
from tts.decision_weights import weights
from tts.domain.text_length import LATIN_CHARS_A_TOKEN
from tts.domain.tooling import ToolCall
from tts.domain.usage import Usage
from tts.inference.clues.answer_texts import explain, write_answer, write_draw
from tts.inference.clues.notes import Notes, notes
from tts.inference.clues.planned_calls import TURNS_WITH_READING, PlannedCalls, plan_calls
from tts.inference.clues.sibling_share import SiblingShare
from tts.ports.model_client import Delta, ModelRequest

_CHUNK_CHARS = 24
_NAME_NOISE = weights("embedded")["name_noise"]
_TOKENS_PER_CALL = 8
_MAX_TURNS_WITH_CALLS = TURNS_WITH_READING + 1  # then it answers


@dataclass(frozen=True, slots=True)
class CluesTurn:
    """What a turn makes of the notes: leads, and the belief they add up to."""

    notes: Notes
    leads: Leads
    belief: Belief


class CluesModel:
    """The `ModelClient` that reads signs. Deterministic for a reading, a conversation and a seed."""

    def __init__(self, config: CluesEngine, reader: ClueReader) -> None:
        self._config = config
        self._reader = reader

    @property
    def name(self) -> str:
        """Always `clues`."""
        return "clues"

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Decide the whole turn, then yield its text in pieces. Token counts are estimated from lengths of text; a turn
        ends at `max_tokens`, as that of any model."""
        text, calls = self._decide(request)
        written = len(text) // LATIN_CHARS_A_TOKEN + _TOKENS_PER_CALL * len(calls)
        if cut := written > (most := request.sampling.max_tokens):
            text, calls, written = text[: LATIN_CHARS_A_TOKEN * most], (), most
        for at in range(0, len(text), _CHUNK_CHARS):
            yield Delta(text=text[at : at + _CHUNK_CHARS])
        yield Delta(
            tool_calls=calls,
            finish_reason="length" if cut else "tool_calls" if calls else "stop",
            usage=_usage(request, written),
        )

    async def draw(self, request: ModelRequest, count: int) -> tuple[tuple[str | None, ...], Usage]:
        """Exact draws from the belief that the whole conversation supports, not from turns that leave lines out by
        chance. A belief that is too vague for an answer gives draws without a point. The prompt is read once."""
        thought = self._make_turn(request, 0.0)
        rng = thought.notes.random("draws")
        points = thought.belief.draw(rng, count) if is_worth_a_point(thought.belief, thought.leads) else [None] * count
        most = LATIN_CHARS_A_TOKEN * request.sampling.max_tokens
        texts = [write_draw(point, thought.belief, self._reader.countries) for point in points]
        written = sum(min(len(text), most) for text in texts) // LATIN_CHARS_A_TOKEN
        return tuple(text if len(text) <= most else None for text in texts), _usage(request, written)

    def _decide(self, request: ModelRequest) -> tuple[str, tuple[ToolCall, ...]]:
        thought = self._make_turn(request)
        explanation = explain(thought.notes, thought.leads, thought.belief, self._reader.countries)
        if thought.notes.turn < _MAX_TURNS_WITH_CALLS:
            planned = self._plan_calls(request, thought)
            if planned.calls:
                return f"{explanation}\n{planned.why}", planned.calls
        return write_answer(explanation, thought.notes, thought.leads, thought.belief, self._reader), ()

    def _plan_calls(self, request: ModelRequest, thought: CluesTurn) -> PlannedCalls:
        """Siblings whose first calls are to differ divide what all of them would ask, not what each drew by chance.

        A rollout whose share is empty begins as if it were alone: it would answer at once, and its answer could stop
        those that still ask. With several photos nothing is divided: each rollout may make only a few calls about
        all of them.
        """
        share = SiblingShare(request.sibling, request.siblings) if len(request.photos) == 1 else SiblingShare()
        if share.of > 1:
            common = self._make_turn(request, 0.0)
            asked = plan_calls(common.notes, common.leads.mentions, common.belief, request, self._reader, share)
            if asked.calls or common.notes.turn > 0:
                return asked
        return plan_calls(thought.notes, thought.leads.mentions, thought.belief, request, self._reader)

    def _make_turn(self, request: ModelRequest, temperature: float | None = None) -> CluesTurn:
        known = notes(request, self._config.temperature if temperature is None else temperature)
        lines = self._reader.lines
        answered, beside = pair_lookups(known.calls, known.results), lines.neighbours_of_lines(known.lines)
        leads = self._reader.leads(lines.texts(known.lines), answered, beside=beside)
        mentions = tuple(_weight_by_temperature(mention, known) for mention in leads.mentions)
        weighed = Leads(leads.clues, mentions)
        options = request.options
        hint = hint_of(options.hint, self._reader)
        belief = belief_with_caller(weighed, self._reader, options.within, hint, RuledOut.from_options(options))
        return CluesTurn(known, weighed, belief)


def _usage(request: ModelRequest, written: int) -> Usage:
    read = sum(len(message.text) for message in request.messages) // LATIN_CHARS_A_TOKEN
    return Usage(prompt_tokens=read, completion_tokens=written)


def _weight_by_temperature(mention: Mention, known: Notes) -> Mention:
    """Rollouts take names more or less seriously; a greedy one takes them as they are."""
    if known.temperature == 0:
        return mention
    return with_weight(
        mention, 2.718 ** known.random(f"name/{mention.name}").gauss(0.0, _NAME_NOISE * known.temperature)
    )
