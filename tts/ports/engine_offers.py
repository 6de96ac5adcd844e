"""What an engine may offer besides generating (`tts.ports.model_client.ModelClient`); callers ask with `isinstance`."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from tts.domain.usage import Usage
from tts.ports.model_client import ModelRequest


@runtime_checkable
class DrawsTogether(Protocol):
    """An engine that can give several answers to one prompt for the price of reading it once."""

    async def draw(self, request: ModelRequest, count: int) -> tuple[tuple[str | None, ...], Usage]:
        """Generate several answers to one prompt. Cancelling it aborts all of them.

        Args:
            request: the prompt, and how each answer is drawn; `sampling.max_tokens` is the limit of each.
            count: how many answers are wanted, 1 or more.

        Returns:
            The texts, `count` at most, with None for an answer that was cut off; and what all answers used together.
            Fewer texts, or none, where the engine cannot draw so many.

        Raises:
            GeoTTSError: what `ModelClient.generate` raises.
        """
        ...


@runtime_checkable
class ForksPrompts(DrawsTogether, Protocol):
    """An engine in which answers that are drawn while another answer to the same prompt is being written share this
    prompt with it, and are computed in the same steps.
    """

    @property
    def forks_prompts(self) -> bool:
        """Whether it does so as it is configured."""
        ...


@runtime_checkable
class EngineHealth(Protocol):
    """What an engine in this process may tell about itself."""

    @property
    def kv_use(self) -> float | None:
        """Share of the KV cache in use, 0 to 1; None where there is no cache here."""
        ...

    async def check_health(self) -> None:
        """Find out whether the engine can still generate.

        Raises:
            FatalError: the engine is gone.
        """
        ...


@runtime_checkable
class EngineCapacity(Protocol):
    """An engine that may have a KV cache in this process."""

    @property
    def kv_tokens(self) -> int | None:
        """Tokens that its KV cache holds; None where it has none, or none that is known here."""
        ...

    @property
    def kv_used_tokens(self) -> int:
        """How many of them are taken now."""
        ...


@runtime_checkable
class EngineLoad(Protocol):
    """An engine that may count what it runs."""

    @property
    def running(self) -> int | None:
        """Generations that it was given and that have not ended; None where not all of them are counted."""
        ...
