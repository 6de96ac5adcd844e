"""The port that decides how much work a request gets."""

from __future__ import annotations

from typing import Protocol

from tts.domain.plan import Plan
from tts.domain.request import LocateOptions
from tts.domain.usage import Usage
from tts.ports.locator import Routing


class Router(Protocol):
    """Turns a locatability and the caller's options into a plan; pure. Unknown dialects raise ConfigError."""

    def plan(self, options: LocateOptions, routing: Routing, *, opened: Plan | None = None) -> Plan:
        """The plan of a request. If a leader has started by the plan `opened`, the budget of that plan is kept."""

    def within_budget(self, options: LocateOptions) -> LocateOptions:
        """The options, with what follows from their budget if they have one. Applying it twice changes nothing more."""

    def money_usd(self, options: LocateOptions) -> float | None:
        """What all models of a request may cost together, in US dollars; None without a limit."""

    def opening(self, options: LocateOptions) -> Plan:
        """The plan before anything is known of the photos."""

    def testing(self, plan: Plan, options: LocateOptions, *, started: int, spent: Usage) -> Plan | None:
        """The plan of rollouts that test a claim beside `started` blind ones; None if nothing is left for them."""

    def escalate(self, plan: Plan, options: LocateOptions, *, started: int, spent: Usage) -> Plan | None:
        """The next plan if `plan` was not enough; its `n_planned` counts the added rollouts. None if there is none."""
