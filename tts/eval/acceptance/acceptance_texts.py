"""The rows and sentences of an acceptance, for the terminal and for the HTML page alike."""

from __future__ import annotations

from collections.abc import Iterator

from tts.eval.acceptance.acceptance import Acceptance
from tts.eval.acceptance.costs import Costs
from tts.eval.acceptance.faults import FaultRates
from tts.eval.acceptance.fitting import CalibrationFit
from tts.eval.acceptance.quality import Quality
from tts.eval.acceptance.rate import Rate
from tts.eval.metrics.intervals import Interval

Row = tuple[str, str, str, str]
"""What, value, 95 % interval, of how many."""

_FAULT_TEXTS = {
    "parse_failures": ("parse failures", "turns"),
    "cut_turns": ("cut turns", "turns"),
    "cut_contexts": ("cut contexts", "rollouts"),
    "broken_rollouts": ("rollouts whose engine failed", "rollouts"),
    "late_rollouts": ("rollouts ended by the deadline", "rollouts"),
    "rollouts_without_calls": ("rollouts without a tool call", "rollouts"),
    "invalid_calls": ("invalid calls", "calls"),
    "repeated_calls": ("repeated calls", "calls"),
    "failed_calls": ("calls the provider did not serve", "calls"),
}


def title(found: Acceptance) -> str:
    """The engine in one line."""
    return f"{found.engine.engine} {found.engine.model}".strip() + f", dialect {found.engine.dialect}"


def progress_sentence(found: Acceptance) -> str:
    """Photos and rollouts in one sentence."""
    own = found.quality.photos if found.quality is not None else 0
    text = (
        f"{found.photos} photos were located with {found.rollouts} rollouts each, {own} of them labelled ones of yours"
    )
    text += f"; {found.failed} got no answer" if found.failed else ""
    text += f"; {found.left} are left: give the same command again to go on" if found.left else ""
    return text + "."


def fault_rows(faults: FaultRates) -> list[Row]:
    """A row a fault."""
    return [_rate_row(name, getattr(faults, field), of) for field, (name, of) in _FAULT_TEXTS.items()]


def cost_rows(costs: Costs) -> list[Row]:
    """Tokens, seconds, money and cache, for one answer."""
    rows = [
        _mean_row("tokens", costs.tokens, 0, costs.answers),
        _mean_row("of them written", costs.completion_tokens, 0, costs.answers),
        _mean_row("tool calls", costs.tool_calls, 1, costs.answers),
        _mean_row("seconds", costs.seconds, 1, costs.answers),
        _mean_row("US dollars", costs.cost_usd, 4, costs.answers),
    ]
    share = costs.cached_percent
    cached = ("prompt tokens from the cache", "unknown", "", "")
    if share is not None:
        cached = ("prompt tokens from the cache", f"{share.value:.1f} %", _bounds(share, 1), "tokens")
    return [*rows, cached]


def quality_rows(found: Quality) -> list[Row]:
    """The kind of n, pass@n, verifier@n, abstentions and radii."""
    rows: list[Row] = [("kind of N", found.kind_of_n, "", "")]
    n = found.rollouts
    for at in found.at:
        km = f"{at.threshold_km:g} km"
        rows += [
            ("pass@1 within " + km, f"{at.pass_1.value:.1f} %", _bounds(at.pass_1, 1), "photos"),
            _rate_row(f"pass@{n} within {km}", at.pass_n, "photos"),
            _rate_row(f"verifier@{n} within {km}", at.verifier, "photos"),
        ]
    rows.append(_rate_row("answered with not knowing", found.abstained, "photos"))
    rows.append(_rate_row("far off, all in one place", found.same_place, "photos"))
    if found.median_km is not None:
        rows.append(("median error", f"{found.median_km:.1f} km", "", "answers"))
    for cover in found.covers:
        rows += [
            _rate_row(f"90 % radius holds ({cover.calibration})", cover.radius90, "answers"),
            _rate_row(f"50 % radius holds ({cover.calibration})", cover.radius50, "answers"),
            (f"median 90 % radius ({cover.calibration})", f"{cover.radius90_median_km:.0f} km", "", "answers"),
        ]
    return rows


def calibration_lines(fitted: CalibrationFit) -> Iterator[str]:
    """What became of the calibration, a sentence a line."""
    if fitted.is_installed:
        before = f", in place of one fitted to {fitted.replaced_photos}" if fitted.replaced_photos else ""
        yield f"A calibration fitted to {fitted.photos} of your photos was installed{before}: {fitted.file}."
    else:
        yield fitted.why[:1].upper() + fitted.why[1:] + "."
    if fitted.overruled_by:
        yield f"The configuration names {fitted.overruled_by} (verifier.calibration), which is used instead."
    shown = "shown with its probability" if fitted.state == "fitted" else "an estimate, shown without a probability"
    yield f"Answers of this engine, dialect and tools say `calibration: {fitted.state}`; the radius is {shown}."
    if fitted.held is not None:
        held = fitted.held
        yield (
            f"Fitted to random halves and checked on the others, the 90 % radius held {held.cover90:.1f} %, the 50 % "
            f"radius {held.cover50:.1f} %; mean 90 % radius {held.radius90_mean_km:.0f} km."
        )
    elif fitted.photos >= fitted.needed:
        yield f"It could not be checked on photos it was not fitted to: that takes {2 * fitted.needed} photos."


def _rate_row(name: str, rate: Rate, of: str) -> Row:
    if rate.percent is None:
        return name, "–", "", f"0 {of}"
    return name, f"{rate.percent.value:.1f} %", _bounds(rate.percent, 1), f"{rate.found} of {rate.of} {of}"


def _mean_row(name: str, mean: Interval | None, digits: int, answers: int) -> Row:
    if mean is None:
        return name, "unknown", "", f"{answers} answers"
    return name, f"{mean.value:,.{digits}f}", _bounds(mean, digits), f"{answers} answers"


def _bounds(interval: Interval, digits: int) -> str:
    return f"{interval.low:,.{digits}f} to {interval.high:,.{digits}f}"
