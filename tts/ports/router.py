"""The port that decides how much work a request gets."""

from __future__ import annotations

from typing import Protocol

from tts.domain.plan import Plan
from tts.domain.request import LocateOptions
from tts.domain.usage import Usage
from tts.ports.locator import Routing


class Router(Protocol):
    """Turns a locatability and the caller's options into a plan; pure."""

    def plan(self, options: LocateOptions, routing: Routing, *, opened: Plan | None = None) -> Plan:
        """Plan a request.

        Args:
            options: what the caller asked for, after `within_budget`.
            routing: the rating of the photos. What it cost is taken from the money of the request.
            opened: the plan by which a leader has started already; its limits are kept, and only the depth, the number
                of rollouts and the reason change. None: nothing has started.

        Returns:
            The plan. `n_planned` is the number of rollouts that start now, at most `options.n_parallel`; `limits` are
            those of one rollout.

        Raises:
            ConfigError: no dialect has the name in `options.dialect`.
        """

    def within_budget(self, options: LocateOptions) -> LocateOptions:
        """Derive the number of rollouts and the limits from the caller's budget.

        Args:
            options: what the caller asked for, with a budget or without one.

        Returns:
            The options unchanged if they have no budget. Applying it twice changes nothing more.

        Raises:
            ConfigError: no dialect has the name in `options.dialect`.
        """

    def money_usd(self, options: LocateOptions) -> float | None:
        """State what all models of a request may cost together.

        Args:
            options: what the caller asked for; its `max_cost_usd` can only lower the operator's limit.

        Returns:
            US dollars; None without a limit.
        """

    def opening(self, options: LocateOptions) -> Plan:
        """Plan a request before anything is known of the photos, so that its leader can start while they are rated.

        Args:
            options: what the caller asked for, after `within_budget`.

        Returns:
            The plan whose limits the leader gets; `plan` gets it later as `opened`.

        Raises:
            ConfigError: no dialect has the name in `options.dialect`.
        """

    def testing(self, plan: Plan, options: LocateOptions, *, started: int, spent: Usage) -> Plan | None:
        """Plan the rollouts that test a claim.

        Args:
            plan: the plan of the blind rollouts.
            options: what the caller asked for, after `within_budget`.
            started: blind rollouts of the request so far, 1 or more.
            spent: what all of them and the locator used; it counts against the totals of the request.

        Returns:
            The plan of the testing rollouts alone. None if nothing can be looked up, or a total of the request is used
            up.

        Raises:
            ConfigError: no dialect has the name in `options.dialect`.
        """

    def escalate(self, plan: Plan, options: LocateOptions, *, started: int, spent: Usage) -> Plan | None:
        """Plan the next rollouts after a result that is not sufficient.

        Args:
            plan: the plan that was not enough, possibly the result of an earlier call.
            options: what the caller asked for, after `within_budget`.
            started: rollouts of the request so far, of all plans.
            spent: what all of them and the locator used; it counts against the totals of the request.

        Returns:
            A plan whose `n_planned` counts the added rollouts only. None if `options.n_parallel` rollouts have started
            or a total of the request is used up.

        Raises:
            ConfigError: no dialect has the name in `options.dialect`.
        """
