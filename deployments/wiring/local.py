"""The whole system in this process, without Ray: for the command line, tests and evaluation."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from deployments.config import AppArgs
from deployments.config.app_args import MOST_GPU_MEMORY
from deployments.wiring.brokers import LocalBrokers
from deployments.wiring.parts import (
    asking_locator,
    make_agent_model,
    make_identity,
    make_local_toolbox,
    make_locator,
    make_router,
    make_verifier,
    make_watch,
)
from deployments.wiring.rollouts import make_rollouts
from deployments.wiring.toolbox_assembly import apply_tape, make_tooling
from tts.errors import ConfigError
from tts.perception.local_perception import LocalPerception
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Toolbox
from tts.toolkit.toolbox import JoinedToolbox

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LocalTools:
    """All configured tools in this process, and what is behind them."""

    toolbox: Toolbox
    brokers: LocalBrokers

    async def aclose(self) -> None:
        """Close the connections of the tools. Whoever made the tools closes them, after what uses them."""
        await self.brokers.aclose()


def local_tools(args: AppArgs, perception: LocalPerception | None = None) -> LocalTools:
    """All configured tools in this process."""
    tooling = make_tooling(args)
    every = JoinedToolbox(make_local_toolbox(perception or LocalPerception(), args), tooling.toolbox)
    toolbox = apply_tape(every, args.tools)
    return LocalTools(toolbox, LocalBrokers(tooling, toolbox, retention_s=args.gateway.retention_s))


def without_gateway(args: AppArgs) -> AppArgs:
    """Nobody can fetch pictures from a process that serves nothing: without the providers that would."""
    if not args.tools.serves_regions:
        return args
    fetching = args.tools.providers_by_url
    _log.warning("%s can only fetch pictures from a running service: not asked here", " and ".join(fetching))
    kept = tuple(name for name in args.tools.providers if name not in fetching)
    return args.model_copy(update={"tools": args.tools.model_copy(update={"providers": kept})})


def local_ports(args: AppArgs, tools: LocalTools | None = None, perception: LocalPerception | None = None) -> Ports:
    """Everything `solve` needs, in this process. Loads perception unless it is given, and opens the built data.

    Raises:
        ConfigError: the engines together want more memory than a GPU has.
    """
    _refuse_more_than_a_gpu(args)
    perception = perception or LocalPerception()
    tools = tools or local_tools(without_gateway(args), perception)
    toolbox = tools.toolbox
    model = make_agent_model(args)
    return Ports(
        locator=asking_locator(args, make_locator(args, perception), model),
        router=make_router(args),
        rollouts=make_rollouts(model, toolbox, args),
        verifier=make_verifier(args, model, toolbox),
        identity=make_identity(args),
        watch=make_watch(args),
        egress_log=tools.brokers,
        may_send=args.may_send,
    )


def _refuse_more_than_a_gpu(args: AppArgs) -> None:
    """In one process, every engine begins with the same GPU: together they take no more of its memory than there is."""
    wanted = args.gpu_memory_of_engines
    total = sum(wanted.values())
    if len(wanted) > 1 and total > MOST_GPU_MEMORY:
        raise ConfigError(
            f"{' and '.join(wanted)} share a GPU in one process: the sum of their gpu_memory is {total:g}, the limit "
            f"is {MOST_GPU_MEMORY:g}. Lower {' or '.join(f'{key}.gpu_memory' for key in wanted)}"
        )
