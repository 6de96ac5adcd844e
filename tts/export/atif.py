"""Trajectories in the Agent Trajectory Interchange Format, ATIF v1.4 (RFC 0001 of the Harbor project, October 2025).

One trajectory for each rollout. Its first step is what the user asked, each other step is a turn of the model with its
tool calls and what came back. GeoTTS has N agents for one request, so the id of a trajectory is
`REQUEST/ROLLOUT`. What the format has no field for is in `extra`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from tts.domain.trajectory import Run, Trajectory, Turn
from tts.domain.usage import Usage
from tts.export.export_source import LocatedPhoto

VERSION = "ATIF-v1.4"
_QUESTION = "Where was this photo taken?"
Json = dict[str, Any]


def to_atif(items: Sequence[LocatedPhoto]) -> bytes:
    """JSON lines: one trajectory in each."""
    return b"".join(orjson.dumps(one) + b"\n" for item in items for one in trajectories_of(item))


def trajectories_of(item: LocatedPhoto) -> list[Json]:
    """The rollouts of a request in order; none where the source holds the answer alone."""
    return [_trajectory(item, trajectory) for trajectory in item.run.trajectories]


def _trajectory(item: LocatedPhoto, trajectory: Trajectory) -> Json:
    turns = [_turn(number, turn, before) for number, turn, before in _turns_with_usage(trajectory)]
    return {
        "schema_version": VERSION,
        "session_id": f"{item.request_id or item.name}/{trajectory.rollout_id}",
        "agent": _agent(item),
        "steps": [_question(item.run), *turns],
        "final_metrics": {
            "total_prompt_tokens": trajectory.usage.prompt_tokens,
            "total_completion_tokens": trajectory.usage.completion_tokens,
            "total_cached_tokens": trajectory.usage.cached_tokens,
            "total_cost_usd": trajectory.usage.cost_usd,
            "total_steps": len(turns) + 1,
        },
        "extra": {
            "request_id": item.request_id,
            "photo": item.name,
            "rollout_id": trajectory.rollout_id,
            "seed": trajectory.seed,
            "stop_reason": trajectory.stop_reason,
            "answer": trajectory.answer and trajectory.answer.jsonable(),
            "error": trajectory.error,
        },
    }


def _agent(item: LocatedPhoto) -> Json:
    made = item.answer.provenance if item.answer is not None else None
    accepted = item.run.accepted
    extra = {
        "engine": made.engine if made else accepted.engine if accepted else "",
        "dialect": made.dialect if made else accepted.dialect if accepted else "",
        "prompt_sha256": made.prompt_sha256 if made else "",
    }
    agent: Json = {"name": "geotts", "version": (made.version if made else "") or "unknown", "extra": extra}
    return {**agent, "model_name": made.model} if made and made.model else agent


def _question(run: Run) -> Json:
    photos = [photo.jsonable() for photo in run.accepted.photos] if run.accepted is not None else []
    return {"step_id": 1, "source": "user", "message": _QUESTION, "extra": {"photos": photos}}


def _turns_with_usage(trajectory: Trajectory) -> list[tuple[int, Turn, Usage]]:
    """Step ids from 2, turns, and what the rollout had used before each: turns carry running totals."""
    rows, before = [], Usage()
    for number, turn in enumerate(trajectory.turns, 2):
        rows.append((number, turn, before))
        before = turn.usage if turn.finished else before
    return rows


def _turn(number: int, turn: Turn, before: Usage) -> Json:
    step: Json = {"step_id": number, "source": "agent", "message": turn.text}
    if turn.calls:
        step["tool_calls"] = [
            {"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments} for call in turn.calls
        ]
    if turn.results:
        called = {call.id for call in turn.calls}
        step["observation"] = {
            "results": [
                {"source_call_id": one.call_id if one.call_id in called else None, "content": one.text}
                for one in turn.results
            ]
        }
    if turn.finished:
        step["metrics"] = {
            "prompt_tokens": max(0, turn.usage.prompt_tokens - before.prompt_tokens),
            "completion_tokens": max(0, turn.usage.completion_tokens - before.completion_tokens),
            "cached_tokens": max(0, turn.usage.cached_tokens - before.cached_tokens),
            "cost_usd": max(0.0, turn.usage.cost_usd - before.cost_usd),
        }
    facts = [{"call_id": one.call_id, **fact.jsonable()} for one in turn.results for fact in one.facts]
    step["extra"] = {"hypotheses": [one.jsonable() for one in turn.hypotheses], "facts": facts, "problem": turn.problem}
    return step
