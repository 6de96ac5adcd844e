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

    `egress_file` is None where no file of the egress can be kept. `tools_may_send` says that a tool may call another
    machine.
    """

    locator: Locator
    router: Router
    rollouts: Rollouts
    verifier: Verifier
    identity: Identity
    watch: WatchSettings = field(default_factory=WatchSettings)
    egress_file: EgressFile | None = None
    tools_may_send: bool = False
