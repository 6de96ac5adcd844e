"""How reliable each model of a mixture is, from recorded runs."""

import numpy as np
import pytest

from tts.domain.geo import LatLon, destination
from tts.domain.hypothesis import Hypothesis
from tts.domain.trajectory import Trajectory
from tts.errors import DataError
from tts.eval.labelled_cases import LabelledCase
from tts.eval.source_reliability import reliability_from


def cases(count=60):
    """`good` and `fair` are mostly near the truth, `poor` is mostly far from it and from the others."""
    luck, made = np.random.default_rng(4), []
    for number in range(count):
        truth = LatLon(lat=float(luck.uniform(-50, 50)), lon=float(luck.uniform(-170, 170)))
        rollouts = []
        for i, (source, right) in enumerate((("good", 0.9), ("good", 0.9), ("fair", 0.7), ("poor", 0.2))):
            km = 1.0 if luck.random() < right else float(luck.uniform(3000, 9000))
            point = destination(truth, bearing_deg=float(luck.uniform(0, 360)), distance_km=km)
            rollouts.append(Trajectory(rollout_id=i, source=source, answer=Hypothesis(point=point)))
        made.append(LabelledCase(str(number), truth, tuple(rollouts)))
    return made


@pytest.mark.parametrize("labels", [True, False])
def test_sources_are_ranked_with_the_true_places_and_without(labels):
    found = reliability_from(cases(), labels=labels).factors
    assert set(found) == {"good", "fair", "poor"}
    for at in range(4):
        assert found["good"][at] >= found["fair"][at] > found["poor"][at]


def test_runs_of_one_model_have_no_sources():
    with pytest.raises(DataError, match="not of several models"):
        reliability_from(
            [LabelledCase("a", LatLon(lat=0, lon=0), (Trajectory(rollout_id=0, source="one"),))], labels=True
        )
