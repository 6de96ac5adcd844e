"""The verifier sees through scenarios in which most rollouts are wrong; a vote does not."""

import pytest

from geotts_benchmarks.verifier.verifier_score import consensus, majority_vote, score
from tts.eval.synthetic.families import FAMILIES, generate
from tts.verify.evidence.world import World

COUNT = 4


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_the_verifier_is_right_in_most_scenarios_and_no_worse_than_a_vote(family, world, gazetteer, countries):
    scenarios = generate(family, COUNT, 1, gazetteer, countries)
    ours, vote = score(scenarios, consensus(world)), score(scenarios, majority_vote)
    assert ours.right >= 80.0
    assert ours.right >= vote.right
    assert (ours.moved or 0.0) == 0.0
    assert (ours.moved is None) == (scenarios[0].clean is None)
