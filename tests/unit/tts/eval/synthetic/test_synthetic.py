import pytest

from tts.domain.geo import distance_km
from tts.eval.synthetic.families import FAMILIES, generate
from tts.eval.synthetic.scenario import RIGHT_KM

COUNT = 4


@pytest.fixture(scope="module", params=list(FAMILIES))
def scenarios(request, gazetteer, countries):
    return generate(request.param, COUNT, 1, gazetteer, countries)


def test_a_scenario_is_the_same_whatever_the_count(scenarios, gazetteer, countries):
    again = generate(scenarios[0].family, 2, 1, gazetteer, countries)
    assert [(s.truth, s.trajectories, s.readings) for s in again] == [
        (s.truth, s.trajectories, s.readings) for s in scenarios[:2]
    ]


def test_every_scenario_has_consistent_rollouts_and_a_right_one(scenarios):
    for scenario in scenarios:
        assert [t.rollout_id for t in scenario.trajectories] == list(range(len(scenario.trajectories)))
        for trajectory in scenario.trajectories:
            called = {call.id for turn in trajectory.turns for call in turn.calls}
            assert {result.call_id for result in trajectory.results} == called
            assert {claim.call_id for claim in trajectory.best.claims} <= called | {None}
        off = [distance_km(t.best.point, scenario.truth) for t in scenario.trajectories]
        assert min(off) <= RIGHT_KM
        assert max(off) > RIGHT_KM or scenario.kind == "right country"
