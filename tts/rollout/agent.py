"""The parts of a rollout, and the instructions that all rollouts of a group share."""

from __future__ import annotations

from dataclasses import dataclass

from tts.dialects.base import Dialect, Surroundings, Task
from tts.dialects.directions import ask_for_directions, give_direction
from tts.domain.messages import Message
from tts.domain.plan import Limits
from tts.domain.similar_photo import SimilarPhoto
from tts.ports.model_client import ModelClient
from tts.ports.rollout_groups import GroupRequest, RolloutTask
from tts.ports.similar_photos import Gallery
from tts.ports.toolbox import Toolbox, ToolSchema
from tts.rollout.offered_tools import offered_tools


@dataclass(frozen=True, slots=True)
class Brief:
    """How they speak, which tools they may use under the dialect's names, the budget of each, how they start.
    `withheld` are the names of tools that the request would have to consent to.
    """

    dialect: Dialect
    schemas: tuple[ToolSchema, ...]
    limits: Limits
    opening: tuple[Message, ...]
    withheld: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Agent:
    """An engine, its dialect, its tools, and photos of known position if the operator has a gallery."""

    model: ModelClient
    dialect: Dialect
    toolbox: Toolbox
    gallery: Gallery | None = None

    async def similar(self, group: GroupRequest) -> tuple[SimilarPhoto, ...]:
        """Photos of the gallery that look like the photos of the request; empty if the dialect does not use them."""
        if self.gallery is None or not self.dialect.shows_similar:
            return ()
        return await self.gallery.similar(group.photos)

    def brief(self, group: GroupRequest, similar: tuple[SimilarPhoto, ...] = ()) -> Brief:
        """The same for every rollout of a group, so it is made once."""
        dialect = self.dialect.for_surroundings(Surroundings(group.options.within, group.leader))
        schemas = self._offered_tools(group, dialect)
        schemas_with_consent = (
            schemas if group.options.allow_region_search else self._offered_tools(group, dialect, assume_consent=True)
        )
        withheld = frozenset(schema.name for schema in schemas_with_consent) - {schema.name for schema in schemas}
        task = Task(
            group.photos,
            group.options,
            use_tools=bool(schemas),
            tools=schemas,
            similar=similar,
            testing=group.testing,
            continued=group.continued,
        )
        return Brief(dialect, schemas, group.limits.tighten(dialect.limits), tuple(dialect.opening(task)), withheld)

    def _offered_tools(
        self, group: GroupRequest, dialect: Dialect, *, assume_consent: bool = False
    ) -> tuple[ToolSchema, ...]:
        """With what the request consents to, or with everything."""
        if not group.use_tools:
            return ()
        assume_consent = assume_consent or group.options.allow_region_search
        return offered_tools(dialect, self.toolbox.schemas(), group.options.tools, region_search=assume_consent)


def opening_of(brief: Brief, task: RolloutTask) -> tuple[Message, ...]:
    """The opening of one rollout: that of all, with what a leader is asked or the direction that a sibling is given."""
    if task.name_directions:
        return ask_for_directions(brief.opening, task.name_directions)
    return give_direction(brief.opening, task.direction, task.taken) if task.taken else brief.opening
