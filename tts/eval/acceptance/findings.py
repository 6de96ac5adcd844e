"""The findings of an acceptance: each fault in plain words, and the setting to change.

A rate is a finding when its whole 95 % interval lies beyond what is tolerated, so that a few bad cases in few photos do
not make one. What is tolerated is a choice: above it, users of a service would notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from tts.config import PipelineConfig
from tts.domain.geo import CITY_KM
from tts.domain.value import Value
from tts.eval.acceptance import remedies
from tts.eval.acceptance.costs import Costs
from tts.eval.acceptance.faults import FaultRates
from tts.eval.acceptance.quality import Quality
from tts.eval.acceptance.rate import Rate
from tts.eval.acceptance.remedies import Remedy

_MIN_COVER_PERCENT = 90.0
_MIN_CACHED_PERCENT = 10.0
_GAIN_THRESHOLD_KM = CITY_KM
_MAX_SILENCE_PERCENT = 50.0
_MAX_SAME_PERCENT = 30.0


class Finding(Value):
    """One thing that is wrong. A `fault` spoils answers; `advice` is about time or money."""

    about: str
    kind: Literal["fault", "advice"]
    text: str
    change: str
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """What the dialect, the engine and the toolbox said of it themselves, the most frequent first."""

    problems: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    mistakes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rule:
    """Says that more than `tolerated_percent` of something went wrong."""

    about: str
    tolerated_percent: float
    what: str
    of: str
    remedy: Callable[[PipelineConfig], Remedy]
    kind: Literal["fault", "advice"] = "fault"


_RULES = (
    _Rule("cut_contexts", 0.0, "were longer than the engine's context", "rollouts", remedies.cut_contexts),
    _Rule("broken_rollouts", 2.0, "broke because the engine failed", "rollouts", remedies.broken_rollouts),
    _Rule("late_rollouts", 5.0, "were ended by the deadline", "rollouts", remedies.late_rollouts),
    _Rule("parse_failures", 2.0, "held nothing that could be used", "turns", remedies.parse_failures),
    _Rule("cut_turns", 1.0, "were cut off at the token limit", "turns", remedies.cut_turns),
    _Rule("invalid_calls", 5.0, "named no tool, or arguments it does not take", "calls", remedies.invalid_calls),
    _Rule("repeated_calls", 10.0, "repeated an earlier one word by word", "calls", remedies.repeated_calls),
    _Rule("failed_calls", 5.0, "were not served by the provider", "calls", remedies.failed_calls),
)  # fmt: skip
_NO_CALLS_RULE = _Rule(
    "rollouts_without_calls", 80.0, "called no tool, though tools were offered", "rollouts", remedies.no_calls
)


def findings(
    faults: FaultRates, costs: Costs, found: Quality | None, args: PipelineConfig, words: Words, *, offers_tools: bool
) -> tuple[Finding, ...]:
    """What is wrong, faults first. `offers_tools`: the dialect has tools to offer."""
    rules = (*_RULES, _NO_CALLS_RULE) if offers_tools else _RULES
    listed = [finding for rule in rules for finding in _rule_findings(rule, getattr(faults, rule.about), args, words)]
    listed += [*(_quality_findings(found, args) if found is not None else ()), *_cache_findings(costs, args)]
    return tuple(sorted(listed, key=lambda finding: finding.kind != "fault"))


def _rule_findings(rule: _Rule, rate: Rate, args: PipelineConfig, words: Words) -> Iterator[Finding]:
    if not rate.is_above(rule.tolerated_percent):
        return
    texts = {
        "parse_failures": words.problems,
        "broken_rollouts": words.failures,
        "cut_contexts": words.failures,
        "invalid_calls": words.mistakes,
    }
    example = next(iter(texts.get(rule.about, ())), "")
    text = f"{_share(rate)} of the {rule.of} {rule.what}" + (f", most often: {example}" if example else "")
    yield _make_finding(rule.about, rule.kind, text, rule.remedy(args))


def _quality_findings(found: Quality, args: PipelineConfig) -> Iterator[Finding]:
    if found.abstained.is_above(_MAX_SILENCE_PERCENT):
        text = f"{_share(found.abstained)} of the photos were answered with not knowing"
        yield _make_finding("abstained", "fault", text, remedies.unseen_photos(args))
    if found.same_place.is_above(_MAX_SAME_PERCENT):
        text = f"{_share(found.same_place)} of the photos got the same answer, far from where they were taken"
        yield _make_finding("same_place", "fault", text, remedies.unseen_photos(args))
    near = next((at for at in found.at if at.threshold_km == _GAIN_THRESHOLD_KM), None)
    if near is not None and near.gain.high < 0:
        text = (
            f"the verifier is right within {near.threshold_km:g} km in {near.verifier.percent} % of the photos, a "
            f"rollout drawn by chance in {near.pass_1} %"
        )
        yield _make_finding("verifier", "fault", text, remedies.weak_verifier(args))
    for cover in found.covers:
        if cover.radius90.is_below(_MIN_COVER_PERCENT):
            text = (
                f"the 90 % radius holds the true place in only {_share(cover.radius90)} of the answers (calibration: "
                f"{cover.calibration})"
            )
            yield _make_finding("radius_cover", "advice", text, remedies.short_radii(args))


def _cache_findings(costs: Costs, args: PipelineConfig) -> Iterator[Finding]:
    share = costs.cached_percent
    if share is None or args.engine.prefix_wait_s is None or share.high >= _MIN_CACHED_PERCENT:
        return
    text = f"only {share.value:.0f} % of the prompt tokens came from the prefix cache, so far as the engine says"
    yield _make_finding("cached_tokens", "advice", text, remedies.nothing_cached(args))


def _make_finding(about: str, kind: Literal["fault", "advice"], text: str, remedy: Remedy) -> Finding:
    return Finding(about=about, kind=kind, text=text, change=remedy.text, settings=remedy.settings)


def _share(rate: Rate) -> str:
    assert rate.percent is not None  # a rate beyond anything was counted
    return f"{rate.percent.value:.1f} % ({rate.percent.low:.1f} to {rate.percent.high:.1f})"
