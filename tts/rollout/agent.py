"""What rollouts are made of, and what those of a group are told alike."""

from __future__ import annotations

from dataclasses import dataclass

from tts.dialects.base import Dialect, Task
from tts.domain.messages import Message
from tts.domain.plan import Limits
from tts.ports import GroupRequest, ModelClient, Toolbox, ToolSchema


@dataclass(frozen=True, slots=True)
class Brief:
    """The tools they may use, under the dialect's names; the budget of each; the messages they start from."""

    schemas: tuple[ToolSchema, ...]
    limits: Limits
    opening: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Agent:
    """An engine, a way of speaking to it, and tools."""

    model: ModelClient
    dialect: Dialect
    toolbox: Toolbox

    def brief(self, group: GroupRequest) -> Brief:
        """The same for every rollout of a group, so it is made once."""
        schemas = self._offered(group)
        task = Task(
            group.photos, group.hint, group.within, group.target_radius_km, use_tools=bool(schemas), tools=schemas
        )
        return Brief(schemas, group.limits.tighten(self.dialect.limits), tuple(self.dialect.opening(task)))

    def _offered(self, group: GroupRequest) -> tuple[ToolSchema, ...]:
        if not group.use_tools:
            return ()
        allowed = group.tools
        schemas = self.toolbox.schemas()
        return self.dialect.schemas(tuple(s for s in schemas if allowed is None or s.name in allowed))
