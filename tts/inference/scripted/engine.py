"""An engine that plays a script: turns from a file, or generated ones, with a latency model.

For tests, benchmarks and replay. Like every engine, it streams, aborts when closed, counts tokens, and calls
tools through the loop. A script is JSONL, one object a turn: {"rollout": 0, "turn": 0, "text": "…", "calls":
[{"name": "…", "arguments": {…}}], "first_token_s": 0.1, "token_s": 0.02}; rollouts beyond the script wrap around.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue, ValidationError

from tts.config import ScriptedEngine
from tts.domain.session_ids import session_of_rollout
from tts.domain.tooling import ToolCall
from tts.domain.usage import Usage
from tts.domain.value import Value
from tts.errors import ConfigError, ModelError
from tts.inference.simulated_kv import SimulatedKv
from tts.ports.model_client import Delta, ModelRequest


class ScriptedCall(Value):
    """A tool call of a scripted turn."""

    name: str
    arguments: dict[str, JsonValue] = {}


class ScriptedTurn(Value):
    """What the engine says in one turn, and how long it takes. `error` makes the generation fail after its text."""

    rollout: Annotated[int, Field(ge=0)] = 0
    turn: Annotated[int, Field(ge=0)] = 0
    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    first_token_s: Annotated[float, Field(ge=0)] = 0.0
    token_s: Annotated[float, Field(ge=0)] = 0.0
    truncated: bool = False
    error: str = ""


class ScriptedModel:
    """The `ModelClient` over a script. `running` counts generations that have started and not ended."""

    def __init__(self, config: ScriptedEngine, script: tuple[ScriptedTurn, ...] | None = None) -> None:
        self._config = config
        turns = script if script is not None else _load_script(config.tape) if config.tape else ()
        self._turns = {(turn.rollout, turn.turn): turn for turn in turns}
        self._n_rollouts = 1 + max((turn.rollout for turn in turns), default=0)
        self._kv = SimulatedKv(config.kv_tokens) if config.kv_tokens is not None else None
        self.running = 0

    @property
    def name(self) -> str:
        """Always `scripted`."""
        return "scripted"

    @property
    def kv_tokens(self) -> int | None:
        """Tokens that it holds, as configured."""
        return self._config.kv_tokens

    @property
    def kv_used_tokens(self) -> int:
        """How many of them are taken now."""
        return self._kv.used_tokens if self._kv is not None else 0

    async def generate(self, request: ModelRequest) -> AsyncIterator[Delta]:
        """Play the next turn of the rollout that `session_id` names, a word at a time, up to `max_tokens`.

        Raises ModelError when the script has no such turn, and after the text of a turn with `error`.
        """
        asked_at = asyncio.get_running_loop().time()  # its time runs while others have their turn on this loop, too
        rollout = int(session_of_rollout(request.session_id).rsplit("/", 1)[-1])
        turn = sum(message.role == "assistant" for message in request.messages)
        script = self._next_turn(request, rollout, turn)
        self._record(request, turn)
        self.running += 1
        place = self._kv.place(_prompt_tokens(request)) if self._kv is not None else None
        try:
            if place is not None:
                await place.enter()
            await asyncio.sleep(_seconds_until(asked_at + script.first_token_s))
            tokens = _tokens(script.text)
            if is_cut := len(tokens) > request.sampling.max_tokens:
                tokens = tokens[: request.sampling.max_tokens]
            for i, token in enumerate(tokens, 1):
                if script.token_s:
                    await asyncio.sleep(_seconds_until(asked_at + script.first_token_s + i * script.token_s))
                if place is not None:
                    await place.grow()
                yield Delta(text=token)
            if script.error:
                raise ModelError(script.error)
            yield Delta(
                tool_calls=tuple(
                    ToolCall(id=f"call_{turn}_{i}", name=call.name, arguments=call.arguments)
                    for i, call in enumerate(() if is_cut else script.calls)
                ),
                finish_reason="length" if is_cut or script.truncated else "tool_calls" if script.calls else "stop",
                usage=Usage(
                    prompt_tokens=_prompt_tokens(request),
                    completion_tokens=len(tokens),
                    preempted_tokens=place.preempted_tokens if place is not None else 0,
                ),
            )
        finally:
            if place is not None:
                place.leave()
            self.running -= 1

    def _record(self, request: ModelRequest, turn: int) -> None:
        """A line in the journal. Processes on one machine may share it: each line is one write at the end."""
        if self._config.journal is not None:
            at = {"at": time.monotonic(), "process": os.getpid()}
            line = {**at, "session": request.session_id, "turn": turn, "hint": request.options.hint}
            with Path(self._config.journal).open("a") as journal:
                journal.write(json.dumps(line) + "\n")

    def _next_turn(self, request: ModelRequest, rollout: int, turn: int) -> ScriptedTurn:
        if not self._turns:
            return self._generate_turn(request, turn)
        scripted_turn = self._turns.get((rollout % self._n_rollouts, turn))
        if scripted_turn is None:
            raise ModelError(f"the script has no turn {turn} for rollout {rollout}")
        return scripted_turn

    def _generate_turn(self, request: ModelRequest, turn: int) -> ScriptedTurn:
        """Some words and a tool call a turn, then an answer near a point that depends on the seed."""
        config = self._config
        rng = random.Random((request.sampling.seed or 0) * 31 + turn)
        last = turn + 1 >= config.turns or not request.tools
        words = [rng.choice(_CUE_WORDS) for _ in range(config.tokens_per_turn)]
        calls: tuple[ScriptedCall, ...] = ()
        if last:
            answer = {
                "lat": round(48.8566 + rng.uniform(-0.05, 0.05), 5),
                "lon": round(2.3522 + rng.uniform(-0.05, 0.05), 5),
                "city": "Paris",
                "country": "France",
            }
            words[-1:] = ["\n" + json.dumps(answer)]
        elif config.tool is not None:
            calls = (ScriptedCall(name=config.tool, arguments={"query": rng.choice(_PLACE_NAMES)}),)
        text = " ".join(words)
        return ScriptedTurn(turn=turn, text=text, calls=calls, token_s=config.turn_s / max(1, len(_tokens(text))))


_CUE_WORDS = ("sign", "shop", "street", "lane", "kerb", "plate", "roof", "tree", "light", "wall", "bus", "pole")
_PLACE_NAMES = ("Paris", "Lyon", "Marseille", "Lille", "Nantes", "Toulouse", "Rennes", "Dijon")


def _seconds_until(moment: float) -> float:
    """Seconds from now to a moment on the loop's clock."""
    return max(0.0, moment - asyncio.get_running_loop().time())


def _tokens(text: str) -> list[str]:
    """Words with the space before them; close enough to tokens for a latency model."""
    return [(" " if i else "") + word for i, word in enumerate(text.split(" "))] if text else []


def _prompt_tokens(request: ModelRequest) -> int:
    return sum(len(message.text) // 4 + 256 * len(message.images) for message in request.messages)


def _load_script(path: str) -> tuple[ScriptedTurn, ...]:
    try:
        lines = Path(path).read_text().splitlines()
        return tuple(ScriptedTurn.model_validate_json(line) for line in lines if line.strip())
    except (OSError, ValidationError) as error:
        raise ConfigError(f"script {path}: {error}") from error
