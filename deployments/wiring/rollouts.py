"""The `Rollouts` port in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from deployments.config import AppArgs
from deployments.wiring.mixture_rollouts import Member, MixtureRollouts, RolloutsHere
from deployments.wiring.parts import make_dialect, make_gallery, make_model
from tts.aio import closing
from tts.ports.closable import close_each
from tts.ports.model_client import ModelClient
from tts.ports.rollout_groups import GroupRequest, RolloutItem
from tts.ports.toolbox import Toolbox
from tts.rollout.agent import Agent
from tts.rollout.group import run_group

Tools = Toolbox | Callable[[], Awaitable[Toolbox]]


def make_rollouts(model: ModelClient, toolbox: Tools, args: AppArgs) -> RolloutsHere:
    """Those of the engine; of several engines, where the configuration has them. `model` is the first of them."""
    if not args.engines:
        return LocalRollouts(model, toolbox, args)
    members: list[Member] = []
    for number, share in enumerate(args.engines):
        alone = {"engine": share.engine, "engines": (), "dialect": share.dialect or args.dialect}
        own = args.model_copy(update=alone)
        engine = model if number == 0 else make_model(args, share.engine)
        members.append(Member(share, LocalRollouts(engine, toolbox, own)))
    return MixtureRollouts(members)


class LocalRollouts:
    """One group, whatever the number. `toolbox` may be something that is asked for it when rollouts start."""

    def __init__(self, model: ModelClient, toolbox: Tools, args: AppArgs) -> None:
        self._model = model
        self._toolbox = toolbox
        self._args = args
        self._gallery = make_gallery(args)

    @property
    def engines(self) -> tuple[ModelClient, ...]:
        """The one engine."""
        return (self._model,)

    def group_size(self, group: GroupRequest) -> int:
        """All rollouts go in one group."""
        return len(group.tasks)

    async def aclose(self) -> None:
        """Close the engine's connections."""
        await close_each(self._model)

    async def run(self, group: GroupRequest) -> AsyncIterator[Sequence[RolloutItem]]:
        """Run the group in this event loop; a `toolbox` that has to be asked for is asked first."""
        toolbox = await self._toolbox() if callable(self._toolbox) else self._toolbox
        agent = Agent(self._model, make_dialect(group.options.dialect, self._args), toolbox, self._gallery)
        args = self._args
        wait_s = None if group.warm else args.prefix_wait_s
        batches = run_group(agent, group, coalesce_s=args.coalesce_s, prefix_wait_s=wait_s)
        async with closing(batches) as stream:
            async for batch in stream:
                yield batch
