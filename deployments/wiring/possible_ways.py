"""What an installation can do for a budget."""

from __future__ import annotations

from deployments.config import AppArgs
from tts.domain.plan import MAX_DRAWS
from tts.routing.budget_table import PossibleWays


def possible_ways(args: AppArgs) -> PossibleWays:
    """The draws that the limits of every engine allow, the questions that the verifier may ask, and whether rollouts
    may be stopped. A verifier that reads trajectories does not use draws."""
    verifier = args.verifier
    members = [member.limits_within(args.limits) for member in args.engines] or [args.limits]
    draws = min(limits.answer_draws or MAX_DRAWS for limits in members)
    return PossibleWays(
        most_draws=1 if verifier.reads_trajectories else draws,
        most_questions=verifier.max_questions if verifier.may_ask else 0,
        may_stop=not verifier.reads_trajectories,
    )
