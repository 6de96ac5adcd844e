"""What each clue and each rule is worth: shares, and their difference from everything with its interval."""

import pytest

from deployments.config import AppArgs
from geotts_benchmarks.accuracy.ablation import ablate
from tts.eval.scenes.generate import SceneMaker

pytestmark = pytest.mark.slow
SCENES = 40


STREETS = 6


def run_ablation(count, *, misleading):
    maker = SceneMaker(seed=0, split="dev", misleading=misleading)
    return ablate(AppArgs(), list(maker.samples(count)), [maker.plan(number) for number in range(count)])


@pytest.fixture(scope="module")
def found(data_store):
    return run_ablation(SCENES, misleading=True)


@pytest.fixture(scope="module")
def of_streets(data_store):
    return run_ablation(STREETS, misleading=False)


def test_an_ablation_that_leaves_nothing_out_changes_nothing(found):
    assert {name: found["without_rule"]["nothing"][name] for name in found["all"]} == found["all"]
    assert set(map(tuple, found["without_rule"]["nothing"]["change"].values())) == {(0.0, 0.0, 0.0)}


@pytest.mark.parametrize("scenes", ["found", "of_streets"])
def test_the_change_of_an_ablation_is_the_difference_of_shares_within_its_interval(scenes, request):
    found = request.getfixturevalue(scenes)
    for left_out in (*found["without"].values(), *found["alone"].values(), *found["without_rule"].values()):
        for name, (value, low, high) in left_out["change"].items():
            assert value == pytest.approx(left_out[name] - found["all"][name], abs=0.11)
            assert low <= value <= high


def test_the_language_clue_and_the_rules_raise_accuracy_on_misleading_signs(found):
    assert found["without"]["language"]["change"]["acc_750"][0] < 0
    assert found["without_rule"]["all"]["change"]["acc_750"][0] < 0


def test_every_kind_of_sign_has_its_own_figures(found):
    shares = [template["nothing"]["acc_750"] for template in found["per_template"].values()]
    assert len(shares) == 5
    assert min(shares) < found["all"]["acc_750"] < max(shares)
