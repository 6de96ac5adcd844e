"""A KV cache that only counts: which generations fit, and which one has to make room.

For the scripted engine, so that placement and preemption can be seen without a GPU. It shares no prefixes: every
generation holds its prompt and what it has written. Like vLLM it puts back the generation that came last; that one
waits until it fits again.
"""

from __future__ import annotations

import asyncio


class SimulatedKv:
    """Room for `capacity` tokens. A generation that is alone always fits, however long it is."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._places: list[Place] = []  # in the order in which they came
        self._memory_freed_event = asyncio.Event()

    @property
    def used_tokens(self) -> int:
        """Tokens that are taken."""
        return sum(place.tokens for place in self._places)

    def place(self, prompt_tokens: int) -> Place:
        """For a generation that reads `prompt_tokens`; it holds nothing before `enter`."""
        return Place(self, prompt_tokens)

    async def admit(self, place: Place) -> None:
        """Wait until the tokens of `place` fit, and give them to it."""
        while self._places and self.used_tokens + place.tokens > self._capacity:
            self._memory_freed_event.clear()
            await self._memory_freed_event.wait()
        self._places.append(place)

    def holds(self, place: Place) -> bool:
        """Whether it has its tokens here."""
        return place in self._places

    def make_room(self) -> None:
        """Put back those that came last until the others fit."""
        while self.used_tokens > self._capacity and len(self._places) > 1:
            last = self._places.pop()
            last.preempted_tokens += last.tokens
            self._memory_freed_event.set()

    def release(self, place: Place) -> None:
        """Let go of its tokens, if it has any."""
        if place in self._places:
            self._places.remove(place)
            self._memory_freed_event.set()


class Place:
    """What one generation holds. `preempted_tokens` counts what was taken from it."""

    def __init__(self, kv: SimulatedKv, tokens: int) -> None:
        self._kv = kv
        self.tokens = tokens
        self.preempted_tokens = 0

    async def enter(self) -> None:
        """Wait for room for the prompt."""
        await self._kv.admit(self)

    async def grow(self) -> None:
        """Hold one token more; waits for room when it was put back, by this token or before."""
        self.tokens += 1
        self._kv.make_room()
        if not self._kv.holds(self):
            await self._kv.admit(self)

    def leave(self) -> None:
        """The generation has ended."""
        self._kv.release(self)
