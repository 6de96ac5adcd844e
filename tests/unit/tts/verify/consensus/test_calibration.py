import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tts.domain.kind_of_n import FittedKind
from tts.errors import DataError
from tts.verify.consensus.calibration import load, shipped_calibration
from tts.verify.consensus.radius_fitting import MIN_RUNS, fit
from tts.verify.consensus.spread_features import Spread

NEUTRAL = dict.fromkeys(Spread.model_fields, 0.5)


def made_up(n, seed=0):
    """Verdicts whose errors follow one feature, with much noise, as real ones do."""
    rng = np.random.default_rng(seed)
    log_distances = rng.uniform(0, 8, n)
    errors = np.exp(log_distances + rng.normal(0, 1.0, n))
    return [Spread(**{**NEUTRAL, "mean_log_km": float(t)}) for t in log_distances], errors


@pytest.fixture(scope="module")
def made():
    return fit(*made_up(1200), origin="made up")


def test_radii_hold_on_runs_that_were_not_fitted(made):
    spreads, errors = made_up(2000, seed=1)
    radii = [made.radius(spread) for spread in spreads]
    assert np.mean(errors <= [radius.p90 for radius in radii]) == pytest.approx(0.9, abs=0.03)
    assert np.mean(errors <= [radius.p50 for radius in radii]) == pytest.approx(0.5, abs=0.06)


def test_confidence_is_the_share_within_the_wanted_radius(made):
    spreads, errors = made_up(2000, seed=2)
    for km in (5.0, 25.0, 200.0):
        stated = np.array([made.probability_within(spread, km) for spread in spreads])
        assert stated.mean() == pytest.approx((errors <= km).mean(), abs=0.03)


@given(st.floats(-20, 30), st.floats(0.01, 20000), st.floats(0.01, 20000))
def test_radii_and_probabilities_are_consistent_for_any_spread(shipped_one, mean_log_km, a, b):
    spread = Spread(**{**NEUTRAL, "mean_log_km": mean_log_km})
    radius = shipped_one.radius(spread)
    assert 0 < radius.p50 <= radius.p90 <= 20100
    assert 0 < shipped_one.probability_within(spread, a) < 1
    low, high = sorted((a, b))
    assert shipped_one.probability_within(spread, low) <= shipped_one.probability_within(spread, high)


@pytest.fixture(scope="module")
def shipped_one():
    return shipped_calibration("default")


def test_an_engine_without_its_own_calibration_has_the_general_one():
    assert shipped_calibration("no_such_engine") == shipped_calibration("default")


def test_a_calibration_of_an_engine_that_knows_its_radius_uses_this_radius_alone():
    """Agreement that tells nothing gets no weight, and the promise holds on other runs of the same engine."""

    def runs(n, seed):
        rng = np.random.default_rng(seed)
        stated = rng.uniform(1, 9, n)
        errors = np.exp(stated + rng.normal(-1.0, 0.7, n))
        rows = zip(stated, rng.uniform(0, 8, n), strict=True)
        return [Spread(**{**NEUTRAL, "stated_radius_log_km": s, "mean_log_km": m}) for s, m in rows], errors

    made = fit(*runs(400, 0), origin="stated", stated=True)
    weights = dict(zip(made.features, made.tail.coefficients, strict=True))
    assert {name for name, weight in weights.items() if abs(weight) > 1e-9} == {"stated_radius_log_km"}
    spreads, errors = runs(1500, 1)
    radii = np.array([made.radius(spread).p90 for spread in spreads])
    assert np.mean(errors <= radii) == pytest.approx(0.9, abs=0.03)
    assert np.corrcoef(np.log(radii), [s.stated_radius_log_km for s in spreads])[0, 1] > 0.9


def test_the_general_calibration_ignores_stated_radii_and_confidence():
    shipped_weights = shipped_calibration("default")
    for name in ("stated_radius_log_km", "stated_confidence"):
        at = shipped_weights.features.index(name)
        assert shipped_weights.typical.coefficients[at] == shipped_weights.tail.coefficients[at] == 0.0


def test_too_few_runs_are_refused():
    with pytest.raises(DataError, match="too few"):
        fit(*made_up(MIN_RUNS - 1), origin="few")


def test_a_written_calibration_says_the_same_when_it_is_read_again(made, tmp_path):
    made.write(tmp_path / "c.yaml")
    again = load(tmp_path / "c.yaml")
    assert (tmp_path / "c.yaml").stat().st_size < 16_000
    for spread in made_up(20, seed=3)[0]:
        assert again.radius(spread).p90 == pytest.approx(made.radius(spread).p90, rel=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": 2}, "schema version 2, this release reads 1"),
        ({"schema_version": None}, "schema version None"),
        ({"features": ["mean_log_km"]}, "other features"),
        ({"rule": None}, "rule"),
    ],
)
def test_a_calibration_of_another_release_is_refused_and_says_why(made, tmp_path, change, message):
    path = tmp_path / "c.yaml"
    made.write(path)
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | change))
    with pytest.raises(DataError, match=message):
        load(path)


def test_a_calibration_file_without_a_kind_of_n_is_read_as_not_stating_it(made, tmp_path):
    path = tmp_path / "c.yaml"
    made.model_copy(update={"kind_of_n": FittedKind.MIXTURE}).write(path)
    assert load(path).kind_of_n is FittedKind.MIXTURE
    tree = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({name: value for name, value in tree.items() if name != "kind_of_n"}))
    assert load(path).kind_of_n is FittedKind.NOT_STATED
    path.write_text(yaml.safe_dump({**tree, "kind_of_n": "several"}))
    with pytest.raises(DataError, match="kind_of_n"):
        load(path)


@pytest.mark.parametrize(("name", "kind"), [("clues", FittedKind.ONE_POLICY), ("openai", FittedKind.MIXTURE)])
def test_a_shipped_calibration_says_of_which_kind_of_n_its_runs_were(name, kind):
    assert shipped_calibration(name).kind_of_n is kind


def test_files_that_are_no_calibration_are_refused(tmp_path):
    (tmp_path / "c.yaml").write_text("a: [1")
    for name, message in (("c.yaml", "not YAML"), ("none.yaml", "No such file")):
        with pytest.raises(DataError, match=message):
            load(tmp_path / name)
