"""What `geotts locate` prints: lines for pipes, a live picture for terminals, an answer; nothing in it is obeyed."""

import io

import pytest
from rich.console import Console
from support.made_answers import EVIL, an_answer

from deployments.cli.small_map import small_map
from deployments.cli.views import LiveView, PlainView, answer_panel, belief_text, clean, end_text, km
from tts.domain.answer import RunCount, StopReason
from tts.domain.events import (
    Accepted,
    Hypothesised,
    RolloutFinished,
    RolloutStarted,
    Routed,
    Text,
    ToolCalled,
    ToolResulted,
)
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Hypothesis
from tts.domain.plan import Locatability, Plan, PlanDepth
from tts.domain.tooling import ToolCall, ToolResult
from tts.domain.usage import ModelUsage, Usage

NASTY = "\x1b[2J[bold]Köln[/bold]\x07\u202e"
BELIEF = Hypothesis(point=LatLon(lat=50.94, lon=6.96), city=NASTY, country="Germany")


def events():
    plan = Plan(depth=PlanDepth.DEEP, n_asked=2, n_planned=2, reason="why not")
    yield Accepted(request_id="r", photos=(), n_parallel=2, depth="deep")
    yield Routed(locatability=Locatability(score=0.5, method="fixed"), plan=plan)
    for i in range(2):
        yield RolloutStarted(rollout_id=i)
        yield Text(rollout_id=i, turn=0, text=f"thinking\n{NASTY}")
        yield ToolCalled(rollout_id=i, turn=0, call=ToolCall(id="c", name="geocode", arguments={"address": NASTY}))
        yield ToolResulted(rollout_id=i, turn=0, result=ToolResult(call_id="c", name="geocode", text=NASTY))
        yield Hypothesised(rollout_id=i, turn=0, hypothesis=BELIEF)
    yield RolloutFinished(rollout_id=0, stop_reason=StopReason.ANSWERED, answer=BELIEF)
    yield RolloutFinished(rollout_id=1, stop_reason=StopReason.FAILED, error=NASTY)


def render_view(view_class, *, terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=120, highlight=False, color_system=None)
    view = view_class(console, NASTY)
    with view:
        for event in events():
            view.show(event)
        if terminal:
            console.print(view._draw())
    return out.getvalue()


def test_plain_lines_have_a_line_a_milestone_and_no_control_characters():
    lines = render_view(PlainView, terminal=False).splitlines()
    assert lines[1] == "  plan: 2 attempts, deep: why not"
    assert [line[:5] for line in lines[2:]] == ["  [0]"] * 3 + ["  [1]"] * 3 + ["  [0]", "  [1]"]
    assert all(line.isprintable() for line in lines)
    assert "[bold]Köln[/bold]" in lines[2]


def test_the_live_view_has_a_lane_a_rollout_and_the_candidates():
    text = render_view(LiveView, terminal=True)
    drawn = text[text.rindex("deep, 2 attempts") :]
    assert "✓ 0" in drawn
    assert "✗ 1" in drawn
    assert "candidates:" in drawn
    assert "×2" in drawn
    assert "\x07" not in text
    assert "\u202e" not in text


def of_two_models(event):
    if isinstance(event, RolloutStarted):
        return event.model_copy(update={"source": f"model-{event.rollout_id}"})
    return event


@pytest.mark.parametrize(("view", "lane"), [(PlainView, "[1 · model-1] thinks"), (LiveView, "✗ 1 · model-1")])
def test_the_lanes_of_a_mixture_name_their_models(monkeypatch, view, lane):
    mixed = [of_two_models(event) for event in events()]
    monkeypatch.setitem(globals(), "events", lambda: mixed)
    text = render_view(view, terminal=view is LiveView)
    assert lane in text
    assert view is PlainView or "deep, 2 attempts of 2 models, " in text


@pytest.mark.parametrize(("models", "words"), [
    (2, "2 of 2 attempts of 2 models answered"), (1, "2 of 2 attempts of one model answered"),
    (None, "2 of 2 attempts answered"),
])  # fmt: skip
def test_the_panel_says_of_how_many_models_the_attempts_are(models, words):
    count = RunCount(asked=2, planned=2, run=2, answered=2, models=models)
    out = io.StringIO()
    answer = an_answer("Köln").model_copy(update={"n": count})
    Console(file=out, width=200, highlight=False, color_system=None).print(answer_panel(answer, None))
    assert words in out.getvalue()


def test_the_panel_says_what_each_model_of_a_mixture_used():
    def used(model, rollouts, **usage):
        return ModelUsage(model=model, rollouts=rollouts, usage=Usage(**usage))

    by_model = (used("large", 1, turns=3, completion_tokens=700, cost_usd=0.25), used("signs", 3, turns=4))
    out = io.StringIO()
    panel = answer_panel(an_answer("Köln", usage_by_model=by_model), None)
    Console(file=out, width=200, highlight=False, color_system=None).print(panel)
    assert "large: 1 attempt, 3 steps, 700 tokens of text, $0.25 " in out.getvalue()
    assert "signs: 3 attempts, 4 steps, 0 tokens of text " in out.getvalue()


def test_the_answer_panel_shows_control_characters_and_markup_as_text(gazetteer):
    out = io.StringIO()
    console = Console(file=out, width=140, highlight=False, color_system=None)
    console.print(answer_panel(an_answer(EVIL), lambda point, span_km: small_map(gazetteer, point, span_km=span_km)))
    text = out.getvalue()
    assert "46.19278, 9.01703" in text
    assert "probably within 2.0 km, very probably within 40 km" in text
    assert "the metadata of the file says 1.00000, 2.00000, 5,100 km from the answer (not used)" in text
    assert "◎" in text
    assert "\u202e" not in text


@pytest.mark.parametrize(("target_km", "shown"), [(1.0, True), (2.0, False), (25.0, False), (100.0, False)])
def test_a_percentage_is_printed_only_for_a_target_below_the_smaller_radius(target_km, shown):
    out = io.StringIO()
    console = Console(file=out, width=140, highlight=False, color_system=None)
    console.print(answer_panel(an_answer(target_radius_km=target_km), None))
    text = out.getvalue()
    assert "probably within 2.0 km, very probably within 40 km" in text
    assert ("70% sure that the true place is within 1.0 km" in text) is shown
    assert ("%" in text) is shown


def test_an_abstention_says_what_is_known():
    out = io.StringIO()
    unknown = an_answer(lat=None, lon=None, radius_km=None, abstained=True, city="", region="")
    Console(file=out, width=120, color_system=None).print(answer_panel(unknown, None))
    assert "I do not know where this is; the evidence only supports Switzerland." in out.getvalue()


@pytest.mark.parametrize(
    ("distance", "text"), [(0.0001, "1 m"), (0.25, "250 m"), (3.14159, "3.1 km"), (12345.6, "12,346 km")]
)
def test_distances_are_printed_in_m_or_km_with_suitable_digits(distance, text):
    assert km(distance) == text


def test_beliefs_are_written_in_a_few_words():
    assert belief_text(None) == "no answer"
    assert belief_text(Hypothesis(country="Peru")) == "does not know (Peru)"
    assert belief_text(Hypothesis(point=LatLon(lat=1, lon=2))) == "1.00000, 2.00000"
    assert clean("a\nb\x00c" + "d" * 300, 10) == "a b cdddd…"


def test_the_small_map_shows_where_people_live(gazetteer):
    europe = small_map(gazetteer, LatLon(lat=50, lon=9), span_km=2000)
    ocean = small_map(gazetteer, LatLon(lat=-40, lon=-120), span_km=2000)
    assert {len(line) for line in europe} == {44}
    assert len(europe) == 13
    assert europe[6][22] == ocean[6][22] == "◎"

    def empty(lines):
        return sum(char == "\u2800" for line in lines for char in line)

    assert empty(europe) < 150
    assert empty(ocean) == 44 * 13 - 1
    assert small_map(gazetteer, LatLon(lat=0, lon=179.9), span_km=40000)


@pytest.mark.parametrize(
    ("end", "text"),
    [
        ({"stop_reason": StopReason.QUORUM}, "stopped early: the others already agreed"),
        ({"stop_reason": StopReason.QUORUM, "answer": Hypothesis(country="Peru")}, "does not know (Peru)"),
        ({"stop_reason": StopReason.FAILED}, "failed without a reason"),
        ({"stop_reason": StopReason.FAILED, "error": "no room"}, "no room"),
        ({"stop_reason": StopReason.DEADLINE}, "no answer before the time was up"),
    ],
)
def test_an_attempt_without_an_answer_says_why(end, text):
    assert end_text(RolloutFinished(rollout_id=0, **end)) == text


@pytest.mark.parametrize(
    ("end", "line"),
    [
        ({"stop_reason": StopReason.QUORUM}, "stopped early: the others already agreed"),
        (
            {"stop_reason": StopReason.BUDGET, "answer": Hypothesis(country="Peru")},
            "does not know (Peru) (budget used up)",
        ),
        ({"stop_reason": StopReason.FAILED, "error": "no room"}, "failed: no room"),
        ({"stop_reason": StopReason.ANSWERED, "answer": Hypothesis(country="Peru")}, "answered: does not know (Peru)"),
    ],
)
def test_a_plain_line_says_once_and_in_words_how_an_attempt_ended(end, line):
    out = io.StringIO()
    PlainView(Console(file=out, width=120, color_system=None), "x").show(RolloutFinished(rollout_id=2, **end))
    assert out.getvalue() == f"  [2] {line}\n"


@pytest.mark.parametrize(("view_class", "terminal"), [(PlainView, False), (LiveView, True)])
def test_calls_of_the_verifier_are_shown_as_its_own(view_class, terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=120, highlight=False, color_system=None)
    call = ToolCall(id="v", name="web_search", arguments={"query": "Linden Avenue 33 Kaunas"})
    with view_class(console, "photo.jpg") as view:
        for event in events():
            view.show(event)
        view.show(ToolCalled(rollout_id=2, turn=0, call=call, asker="verifier"))
        if terminal:
            console.print(view._draw())
    line = next(line for line in out.getvalue().splitlines() if "comparison" in line)
    assert "Linden Avenue 33 Kaunas" in line
    assert "2 attempts" in out.getvalue()
