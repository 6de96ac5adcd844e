"""The held-out families are fair and hard, whatever the verifier makes of them: no test here imports one."""

import pytest

from tts.domain.geo import distance_km
from tts.eval.synthetic.families import generate
from tts.eval.synthetic.scenario import RIGHT_KM

COUNT = 40


@pytest.fixture(scope="module")
def made(gazetteer, countries):
    return lambda family, count=COUNT: generate(family, count, 2, gazetteer, countries)


def _right(scenario):
    return [t for t in scenario.trajectories if distance_km(t.best.point, scenario.truth) <= RIGHT_KM]


def _wrong(scenario):
    return [t for t in scenario.trajectories if t not in _right(scenario)]


@pytest.mark.parametrize("family", ["namesakes", "wrong_branch", "last_turn", "mirrored_page"])
def test_the_right_rollouts_are_outnumbered_in_many_held_out_scenarios(made, family):
    scenarios = made(family)
    outvoted = sum(len(_right(s)) < len(_wrong(s)) for s in scenarios)
    assert 0.4 * COUNT <= outvoted < COUNT


def test_two_tools_confirm_the_small_print_of_the_right_branch_only(made):
    for scenario in made("wrong_branch"):
        small_print = scenario.readings[0].lines[1].text
        sources = {r.name for t in _right(scenario) for r in t.results if small_print in r.text}
        assert sources == {"poi_keyword_search", "web_search"}
        for trajectory in _wrong(scenario):
            top = trajectory.results[0].facts[0]
            assert small_print not in (top.address if top.kind == "place" else top.snippet)


def test_a_wrong_last_turn_is_far_from_the_first_point_of_the_tools(made):
    kinds = set()
    for scenario in made("last_turn"):
        kinds.add(scenario.kind)
        for trajectory in _wrong(scenario):
            stated = [fact for result in trajectory.results for fact in result.facts if fact.kind == "place"]
            tool_points = [fact.point for fact in stated if fact.point is not None]
            if scenario.kind in ("reversed", "lost sign", "stale"):
                assert trajectory.best.city == _right(scenario)[0].best.city
            if scenario.kind != "correction":
                assert min(distance_km(p, scenario.truth) for p in tool_points) <= RIGHT_KM
                assert min(distance_km(p, trajectory.best.point) for p in tool_points[:1]) > RIGHT_KM
    assert kinds == {"whim", "correction", "stale", "reversed", "lost sign"}


def test_mirrored_pages_differ_by_their_address_alone(made):
    for scenario in made("mirrored_page"):
        pages = [f for t in _wrong(scenario) for r in t.results for f in r.facts]
        assert len({(page.title, page.snippet) for page in pages}) == 1
        assert len({page.url for page in pages}) == (1 if scenario.kind == "authority" else len(pages))
        assert scenario.clean is not None
        assert _right(scenario.clean)
