"""All ports of a request in one value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tts.domain.identity import Identity
from tts.domain.stop_settings import WatchSettings
from tts.egress.log_writer import EgressLogWriter
from tts.egress.records import EgressRecord
from tts.egress.request_egress import RequestEgress
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
        egress_log: keeps what left the machine after the request has ended; None where no such file can be kept.
        may_send: an engine or a tool may call another machine.
    """

    locator: Locator
    router: Router
    rollouts: Rollouts
    verifier: Verifier
    identity: Identity
    watch: WatchSettings = field(default_factory=WatchSettings)
    egress_log: EgressLogWriter | None = None
    may_send: bool = False

    def egress_of(
        self, request_id: str, before: Iterable[EgressRecord] = (), *, complete: bool = True
    ) -> RequestEgress:
        """Begin the egress of a request.

        Args:
            request_id: the id of the request.
            before: what left for it before the work began.
            complete: False where some of what left cannot be known any more.

        Returns:
            All that leaves for the request; what was recorded already is part of it.
        """
        engines = self.identity.remote_engines
        return RequestEgress(
            request_id, self.egress_log, engines, may_send=self.may_send, before=tuple(before), complete=complete
        )
