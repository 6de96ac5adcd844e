"""A model behind a chat server that makes mistakes at known rates: every k-th turn, call or conversation."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from support.chat_servers import error
from support.endpoint import DONE, Reply, chunk, text_chunks, usage

ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'
TOOL = "poi_keyword_search"
TOWNS = ("Otaru", "Sapporo", "Hakodate", "Kobe", "Nara", "Kyoto", "Osaka", "Sendai", "Fukuoka", "Naha")


@dataclass
class FaultyModel:
    """`every` says for each fault how many turns (calls, conversations) there are to one with it.

    A play of `endpoint.serving`: one thing a turn, so that the rates are those of the model and of nothing else. Three
    calls and an answer make a conversation. `counts` is what it did.
    """

    every: dict[str, int]
    cached: float = 0.9
    calls: int = 3
    counts: Counter[str] = field(default_factory=Counter)

    def __call__(self, body: dict[str, Any], number: int) -> Any:
        if self._is_too_long(body):
            return error(400, "This model's maximum context length is 4096 tokens.", code="context_length_exceeded")
        self.counts["turns"] += 1
        if self._is_fault_due("cut", "turns"):
            return [chunk('{"lat": 43.1'), chunk(finish="length"), self._usage_chunk(), DONE]
        if self._is_fault_due("unusable", "turns", shift=1):
            return [*text_chunks("I think this is a lovely place.")[:-2], self._usage_chunk(), DONE]
        made = [call["function"] for message in body["messages"] for call in message.get("tool_calls") or ()]
        if len(made) >= self.calls or not body.get("tools"):
            return [chunk(ANSWER), chunk(finish="stop"), self._usage_chunk(), DONE]
        valid = [json.loads(call["arguments"])["query"] for call in made if call["name"] == TOOL]
        return self._call_chunks(TOWNS[len(made)], valid[-1] if valid else "")

    def _is_too_long(self, body: dict[str, Any]) -> bool:
        """Decided at the first turn of a conversation."""
        if any(message["role"] == "assistant" for message in body["messages"]):
            return False
        self.counts["conversations"] += 1
        return self._is_fault_due("context", "conversations")

    def _call_chunks(self, town: str, before: str) -> list[Any]:
        self.counts["calls"] += 1
        name, query = TOOL, town
        if self._is_fault_due("invalid", "calls"):
            name = "no_such_tool"
        elif before:  # only these calls can repeat one, so an invalid call takes no turn of theirs
            query = before if self._is_fault_due("repeated", "repeatable") else town
            self.counts["repeatable"] += 1
        function = {"name": name, "arguments": json.dumps({"query": query})}
        call = {"index": 0, "id": f"call_{self.counts['calls']}", "type": "function", "function": function}
        return [chunk("Let me look."), chunk(tool_calls=[call]), chunk(finish="tool_calls"), self._usage_chunk(), DONE]

    def _is_fault_due(self, fault: str, of: str, shift: int = 0) -> bool:
        every = self.every.get(fault)
        due = every is not None and (self.counts[of] + shift) % every == 0
        self.counts[fault] += due
        return due

    def _usage_chunk(self) -> dict[str, Any]:
        return usage(prompt=1000, completion=10, cached=int(1000 * self.cached))


def refuse_model(body: dict[str, Any], number: int) -> Reply:
    """A server that has not the model."""
    return error(404, "The model `m` does not exist.", code="model_not_found")
