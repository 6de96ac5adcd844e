"""All ports of a request in one value."""

from __future__ import annotations

from dataclasses import dataclass, field

from tts.domain.identity import Identity
from tts.domain.stop_settings import WatchSettings
from tts.ports.locator import Locator
from tts.ports.outgoing_record import OutgoingRecord
from tts.ports.rollout_groups import Rollouts
from tts.ports.router import Router
from tts.ports.verification import Verifier


@dataclass(frozen=True, slots=True)
class Ports:
    """All a request needs, in process or behind Ray Serve. `outgoing` is None where there are no tools to ask."""

    locator: Locator
    router: Router
    rollouts: Rollouts
    verifier: Verifier
    identity: Identity
    watch: WatchSettings = field(default_factory=WatchSettings)
    outgoing: OutgoingRecord | None = None
