"""The whole system in this process, without Ray: for the command line, tests and evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from deployments.brokers import LocalBrokers
from deployments.parts import (
    make_agent_model,
    make_identity,
    make_local_toolbox,
    make_locator,
    make_verifier,
    make_watch,
)
from deployments.rollouts import LocalRollouts
from deployments.tooling import make_tooling, taped
from tts.config import AppArgs
from tts.perception.local import LocalPerception
from tts.ports import Ports, Toolbox
from tts.routing.plan import DepthRouter
from tts.toolkit.toolbox import JoinedToolbox


@dataclass(frozen=True, slots=True)
class LocalTools:
    """All configured tools in this process, and what is behind them."""

    toolbox: Toolbox
    brokers: LocalBrokers


def local_tools(args: AppArgs, perception: LocalPerception | None = None) -> LocalTools:
    """All configured tools in this process."""
    tooling = make_tooling(args)
    every = JoinedToolbox(make_local_toolbox(perception or LocalPerception()), tooling.toolbox)
    toolbox = taped(every, args.tools)
    return LocalTools(toolbox, LocalBrokers(tooling, toolbox, retention_s=args.gateway.retention_s))


def local_ports(args: AppArgs, tools: LocalTools | None = None) -> Ports:
    """Everything `solve` needs, in this process. Loads perception and opens the built data."""
    perception = LocalPerception()
    tools = tools or local_tools(args, perception)
    toolbox = tools.toolbox
    model = make_agent_model(args)
    return Ports(
        locator=make_locator(args, perception),
        router=DepthRouter(args.limits),
        rollouts=LocalRollouts(model, toolbox, args),
        verifier=make_verifier(args, model),
        identity=make_identity(args),
        watch=make_watch(args),
        outgoing=tools.brokers,
    )
