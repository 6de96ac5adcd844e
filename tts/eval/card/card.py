"""The figures of a method card: every share with its 95 % interval and its n."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from tts.domain.value import Value
from tts.eval.card.card_row import AnsweredPoint, CardRow, Cost, RolloutCost
from tts.eval.metrics.accuracy import CLASSIC_KM, hits
from tts.eval.metrics.intervals import Interval, bootstrap_mean, share_interval
from tts.eval.runs.kind_of_n import kinds_in_words

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FEWEST_OF_TAG = 30  # photos: the interval of a share of fewer is wider than 30 points


class RiskPoint(Value):
    """Of the `n` photos with the most confident answers, the share that is wrong at the wanted radius, in percent."""

    coverage: float
    n: int
    confidence: float
    risk: Interval


class Group(Value):
    """Photos of one part. Shares in percent of all photos that did not fail; covers of the answers with a radius."""

    name: str
    n: int
    failed: int
    abstained: Interval
    within: tuple[Interval, ...]
    median_km: float | None
    cover50: Interval | None
    cover90: Interval | None
    radius90_median_km: float | None


class CostPerAnswer(Value):
    """Means with bootstrap intervals, and the 50th and 95th percentile of the seconds."""

    n: int
    tokens: Interval
    seconds: Interval
    p50_s: float
    p95_s: float
    usd: Interval


class ModelCost(Value):
    """Means over the `n` rollouts of one model of a mixture, with bootstrap intervals."""

    model: str
    n: int
    tokens: Interval
    usd: Interval


class Card(Value):
    """Everything of one run. `origin` says what radii and confidence rest on. `kind_of_n` says what the rollouts of an
    answer are to each other. Tags of few photos, or of all, are left out. A photo is in a group of `by_model` for each
    model whose rollouts agree with its answer; there are none for samples of one policy, and no `cost_by_model`.
    """

    name: str
    origin: str
    kind_of_n: str
    target_km: float
    whole: Group
    by_continent: tuple[Group, ...]
    by_tag: tuple[Group, ...]
    by_model: tuple[Group, ...]
    risk_coverage: tuple[RiskPoint, ...]
    cost: CostPerAnswer | None
    cost_by_model: tuple[ModelCost, ...] = ()


def card_of(name: str, rows: Sequence[CardRow], origin: str) -> Card:
    """The card of the rows of one run; needs at least one row."""
    continents = sorted({row.continent for row in rows})
    counts = Counter(tag for row in rows for tag in row.tags)
    tags = sorted(tag for tag, count in counts.items() if FEWEST_OF_TAG <= count < len(rows))
    models = sorted({model for row in rows for model in row.models})
    return Card(
        name=name,
        origin=origin,
        kind_of_n=kinds_in_words([row.rollouts for row in rows if row.rollouts is not None]),
        target_km=rows[0].target_km,
        whole=_group("all", rows),
        by_continent=tuple(_group(part, [row for row in rows if row.continent == part]) for part in continents),
        by_tag=tuple(_group(tag, [row for row in rows if tag in row.tags]) for tag in tags),
        by_model=tuple(_group(model, [row for row in rows if model in row.models]) for model in models),
        risk_coverage=tuple(_risk(rows)),
        cost=_cost([row.cost for row in rows if row.cost is not None]),
        cost_by_model=_cost_by_model([cost for row in rows for cost in row.rollout_costs]),
    )


def _group(name: str, rows: Sequence[CardRow]) -> Group:
    asked = [row for row in rows if not row.failed]
    answers = [row.answered for row in asked if row.answered is not None]
    errors = np.array([np.inf if row.answered is None else row.answered.error_km for row in asked])
    slack = np.array([0.0 if row.answered is None else row.answered.slack_km for row in asked])
    radii = [answer.radius90_km for answer in answers if answer.radius90_km is not None]
    return Group(
        name=name,
        n=len(rows),
        failed=len(rows) - len(asked),
        abstained=share_interval(np.isinf(errors)),
        within=tuple(share_interval(hits(errors, km, slack)) for km in CLASSIC_KM),
        median_km=float(np.median([answer.error_km for answer in answers])) if answers else None,
        cover50=_cover(answers, lambda answer: answer.in_radius50),
        cover90=_cover(answers, lambda answer: answer.in_radius90),
        radius90_median_km=float(np.median(radii)) if radii else None,
    )


def _cover(answers: Sequence[AnsweredPoint], inside: Callable[[AnsweredPoint], bool | None]) -> Interval | None:
    known = [found for answer in answers if (found := inside(answer)) is not None]
    return share_interval(np.array(known)) if known else None


def _risk(rows: Sequence[CardRow]) -> list[RiskPoint]:
    """Coverage is a share of all photos that did not fail; it ends where only abstentions are left."""
    asked = [row for row in rows if not row.failed]
    answers = sorted((row.answered for row in asked if row.answered), key=lambda answer: -answer.confidence)
    points: list[RiskPoint] = []
    for coverage in COVERAGES:
        n = min(round(coverage * len(asked)), len(answers))
        if n and (not points or n > points[-1].n):
            wrong = np.array([not answer.right for answer in answers[:n]])
            point = RiskPoint(
                coverage=n / len(asked), n=n, confidence=answers[n - 1].confidence, risk=share_interval(wrong)
            )
            points.append(point)
    return points


def _cost(costs: Sequence[Cost]) -> CostPerAnswer | None:
    if not costs:
        return None
    seconds = np.array([cost.seconds for cost in costs])
    return CostPerAnswer(
        n=len(costs),
        tokens=bootstrap_mean(np.array([float(cost.tokens) for cost in costs])),
        seconds=bootstrap_mean(seconds),
        p50_s=float(np.quantile(seconds, 0.5)),
        p95_s=float(np.quantile(seconds, 0.95)),
        usd=bootstrap_mean(np.array([cost.usd for cost in costs])),
    )


def _cost_by_model(costs: Sequence[RolloutCost]) -> tuple[ModelCost, ...]:
    found: list[ModelCost] = []
    for model in sorted({cost.model for cost in costs}):
        own = [cost for cost in costs if cost.model == model]
        tokens = bootstrap_mean(np.array([float(cost.tokens) for cost in own]))
        usd = bootstrap_mean(np.array([cost.usd for cost in own]))
        found.append(ModelCost(model=model, n=len(own), tokens=tokens, usd=usd))
    return tuple(found)
