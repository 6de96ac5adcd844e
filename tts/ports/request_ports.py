"""All ports of a request in one value."""

from __future__ import annotations

from dataclasses import dataclass, field

from tts.domain.identity import Identity
from tts.domain.stop_settings import WatchSettings
from tts.net.egress_file import EgressFile
from tts.ports.locator import Locator
from tts.ports.rollout_groups import Rollouts
from tts.ports.router import Router
from tts.ports.verification import Verifier


@dataclass(frozen=True, slots=True)
class Ports:
    """All a request needs, in process or behind Ray Serve.

    Attributes:
        locator: rates the photos, so that the router can plan.
        router: decides how many rollouts start, how deep they go and what they may use.
        rollouts: runs the rollouts.
        verifier: makes one verdict of the trajectories.
        identity: the engine, model and data of this installation, as answers state them.
        watch: when rollouts that have ended stop those that still run.
        egress_file: keeps what left the machine after the request has ended; None where no such file can be kept.
        may_send: an engine or a tool may call another machine.
    """

    locator: Locator
    router: Router
    rollouts: Rollouts
    verifier: Verifier
    identity: Identity
    watch: WatchSettings = field(default_factory=WatchSettings)
    egress_file: EgressFile | None = None
    may_send: bool = False
