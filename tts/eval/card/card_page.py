"""A method card as Markdown, and its risk–coverage curves as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tts.eval.card.card import FEWEST_OF_TAG, Card, CostPerAnswer, Group, ModelCost
from tts.eval.metrics.accuracy import CLASSIC_KM
from tts.eval.metrics.intervals import Interval

_WIDTH = 520
_HEIGHT = 300
_LEFT = 46
_TOP = 20
_PLOT_W = 440
_PLOT_H = 230
_COLOURS = ("#1b6", "#28c", "#c33", "#63b", "#e80", "#555")
_NOTES = """Every share is a percentage, with its 95 % interval (Wilson) in brackets. Failed requests are counted in a
separate column; no share includes them. The shares of abstentions, and of answers within a distance, are of all other
photos. An abstention counts as wrong at every distance. *Cover* is the share of the answers (without abstentions) whose
radius contains the true place. It should be 50 for the 50 % radius and 90 for the 90 % radius. In the tables "Errors,
abstentions and radii", the first row is for all photos. The next rows are for continents, and then for tags of the data
set. A tag has a row if at least {tagged} photos have it, but not all photos.

Each row of a table of risk and coverage keeps only the most confident answers, down to the confidence in the row.
*Coverage* is the number of these answers, as a share of all photos. *Risk* is the share of these answers that are
wrong: farther from the true place than the wanted radius.

*Kind of N* states where the N rollouts of an answer come from: they are samples of one policy, or of a mixture of
models. A figure for one kind does not apply to the other kind. An interval states how much the figure may differ on
other photos that are like the measured ones. It says nothing about other photos."""

_BY_MODEL_NOTE = (
    "The row of a model has the photos on which its rollouts agree with the answer. A photo can be in several rows. "
    "A photo without an answer is in no row."
)


def card_markdown(
    cards: Sequence[Card], *, command: str, made_on: str, curve: str | None, notes: Sequence[str] = ()
) -> str:
    """The page. `command` made it, on the day `made_on`; `curve` is the address of the picture of all curves. `notes`
    are paragraphs of whoever made it, in Markdown.
    """
    parts = ["# Method card", _NOTES.format(tagged=FEWEST_OF_TAG), f"Made on {made_on} by `{command}`.", *notes]
    if curve is not None:
        parts.append(f"![Risk and coverage of every run]({curve})")
    return "\n\n".join([*parts, *(section for card in cards for section in _sections(card))]) + "\n"


def _sections(card: Card) -> list[str]:
    parts = [
        f"## {card.name}",
        f"Wanted radius: {card.target_km:g} km. Radii and confidence: {card.origin}.",
        f"Kind of N: {card.kind_of_n}.",
        "### Errors, abstentions and radii",
        _groups((card.whole, *card.by_continent, *card.by_tag)),
    ]
    if card.by_model:
        parts += ["### By model", _BY_MODEL_NOTE, _groups(card.by_model)]
    if card.risk_coverage:
        parts += ["### Risk and coverage", _risk(card)]
    parts += ["### Cost per answer", _cost(card.cost)]
    if card.cost_by_model:
        parts += ["### Cost per rollout, by model", _cost_by_model(card.cost_by_model)]
    return parts


def _groups(groups: Sequence[Group]) -> str:
    head = [
        "photos", "n", "failed", "abstained", *(f"within {km:g} km" for km in CLASSIC_KM), "median error, km",
        "cover 50", "cover 90", "median 90 % radius, km",
    ]  # fmt: skip
    rows = [
        [
            group.name,
            str(group.n),
            str(group.failed),
            _share(group.abstained),
            *(_share(share) for share in group.within),
            _number(group.median_km),
            _share(group.cover50),
            _share(group.cover90),
            _number(group.radius90_median_km),
        ]
        for group in groups
    ]
    return _table(head, rows)


def _risk(card: Card) -> str:
    head = ["coverage, %", "n", "confidence at least", "wrong, %"]
    rows = [
        [f"{100 * point.coverage:.0f}", str(point.n), f"{point.confidence:.2f}", _share(point.risk)]
        for point in card.risk_coverage
    ]
    return _table(head, rows)


def _cost(cost: CostPerAnswer | None) -> str:
    if cost is None:
        return "Not recorded in this run."
    head = ["n", "tokens", "seconds", "seconds, p50", "seconds, p95", "USD"]
    row = [
        str(cost.n),
        _mean(cost.tokens, 0),
        _mean(cost.seconds, 2),
        f"{cost.p50_s:.2f}",
        f"{cost.p95_s:.2f}",
        _mean(cost.usd, 4),
    ]
    return _table(head, [row])


def _cost_by_model(costs: Sequence[ModelCost]) -> str:
    rows = [[cost.model, str(cost.n), _mean(cost.tokens, 0), _mean(cost.usd, 4)] for cost in costs]
    return _table(["model", "rollouts", "tokens", "USD"], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _share(share: Interval | None) -> str:
    return (
        "–" if share is None or share.value != share.value else f"{share.value:.1f} [{share.low:.1f}, {share.high:.1f}]"
    )


def _mean(mean: Interval, digits: int) -> str:
    return f"{mean.value:.{digits}f} [{mean.low:.{digits}f}, {mean.high:.{digits}f}]"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def curves_svg(cards: Sequence[Card]) -> str:
    """Risk (upwards) over coverage (to the right) of every card, each with its interval as a band."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        'font-size="10" role="img"><title>Risk and coverage</title>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<path d="M{_LEFT} {_TOP}V{_TOP + _PLOT_H}H{_LEFT + _PLOT_W}" fill="none" stroke="#999"/>',
        f'<text x="{_LEFT + 150}" y="{_HEIGHT - 8}">coverage, % of all photos</text>',
        f'<text x="{_LEFT}" y="12">wrong at the wanted radius, %</text>',
        *(f'<text x="{_to_x(share):.0f}" y="{_TOP + _PLOT_H + 14}">{100 * share:.0f}</text>' for share in (0, 0.5, 1)),
        *(f'<text x="{_LEFT - 24}" y="{_to_y(percent) + 3:.0f}">{percent}</text>' for percent in (0, 25, 50, 75, 100)),
    ]
    for number, card in enumerate(cards):
        parts += _curve(card, _COLOURS[number % len(_COLOURS)], number)
    return "".join([*parts, "</svg>\n"])


def _curve(card: Card, colour: str, number: int) -> list[str]:
    points = card.risk_coverage
    upper = [f"{_to_x(p.coverage):.1f},{_to_y(p.risk.high):.1f}" for p in points]
    lower = [f"{_to_x(p.coverage):.1f},{_to_y(p.risk.low):.1f}" for p in reversed(points)]
    line = " ".join(f"{_to_x(p.coverage):.1f},{_to_y(p.risk.value):.1f}" for p in points)
    return [
        f'<polygon points="{" ".join([*upper, *lower])}" fill="{colour}" opacity="0.15"/>',
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>',
        f'<text x="{_LEFT + 8}" y="{_TOP + 12 + 13 * number}" fill="{colour}">{escape(card.name)}</text>',
    ]


def _to_x(coverage: float) -> float:
    return _LEFT + _PLOT_W * coverage


def _to_y(percent: float) -> float:
    return _TOP + _PLOT_H * (1.0 - percent / 100.0)
