"""Draws of an answer that lie apart: its vote says less, nobody stops on it, and a calibration learns from them."""

import numpy as np
import pytest
from support.basics import a_context
from support.verifier_runs import COIMBRA, OSAKA, PORTO, trajectory
from support.voters import LYON, rollout_at

from tts.domain.answer import Verdict
from tts.domain.calibration import CalibrationState
from tts.domain.geo import LatLon, distance_km
from tts.domain.request import LocateOptions
from tts.domain.stop_policy import StopPolicy
from tts.ensemble.consensus_watch import ConsensusWatch
from tts.ports.verification import VerifyRequest
from tts.verify.consensus.calibration import shipped_calibration
from tts.verify.consensus.radius_fitting import fit
from tts.verify.consensus.spread_features import Spread
from tts.verify.evidence.world import World
from tts.verify.verifiers.calibration_state import CalibrationStateVerifier
from tts.verify.verifiers.consensus import ConsensusVerifier

SCATTERED = (LatLon(lat=-33.9, lon=18.4), LatLon(lat=64.1, lon=-21.9), None)
NEUTRAL = dict.fromkeys(Spread.model_fields, 0.5)


@pytest.fixture(scope="module")
def consensus(gazetteer, countries):
    return ConsensusVerifier(World(gazetteer, countries), shipped_calibration("default"))


def with_draws(run, *draws):
    return run.model_copy(update={"answer_draws": draws})


def request_of(*runs):
    return VerifyRequest(a_context(), (), LocateOptions(), runs)


def test_two_answers_whose_draws_scatter_lose_against_one_that_is_drawn_again(consensus):
    two = trajectory(0, OSAKA, name="Namba"), trajectory(1, OSAKA, name="Umeda")
    one = trajectory(2, PORTO)
    assert distance_km(consensus.decide(request_of(*two, one)).point, OSAKA) < 25
    scattered = [with_draws(run, *SCATTERED) for run in two]
    steady = with_draws(one, PORTO, PORTO, PORTO)
    assert distance_km(consensus.decide(request_of(*scattered, steady)).point, PORTO) < 25


def test_scattered_draws_make_the_radius_of_a_fitted_engine_larger():
    """Errors follow the draws alone: how far the rollouts lie apart tells nothing here."""
    rng = np.random.default_rng(0)
    draws = rng.uniform(0, 8, 600)
    errors = np.exp(draws + rng.normal(0, 0.8, 600))
    spreads = [
        Spread(**{**NEUTRAL, "draws_log_km": float(away), "mean_log_km": float(mean)})
        for away, mean in zip(draws, rng.uniform(0, 8, 600), strict=True)
    ]
    made = fit(spreads, errors, origin="draws")
    near, far = (made.radius(Spread(**{**NEUTRAL, "draws_log_km": away})) for away in (1.0, 7.0))
    assert far.p90 > 10 * near.p90
    assert far.p50 > 10 * near.p50
    assert made.knows_draws
    assert not fit([s.model_copy(update={"draws_log_km": None}) for s in spreads], errors, origin="none").knows_draws


@pytest.mark.parametrize("policy", ["quorum:2", "beta", "loss:1"])
def test_rollouts_do_not_stop_on_answers_whose_draws_scatter(policy):
    pair = rollout_at(0, LYON), rollout_at(1, LYON)
    steady = [with_draws(run, LYON, LYON, LYON) for run in pair]
    scattered = [with_draws(run, *SCATTERED) for run in pair]

    def agreement(runs):
        return ConsensusWatch(StopPolicy.parse(policy), 25.0).agreement(runs)[0]

    assert agreement(steady) == agreement(pair) == pytest.approx(2.0, abs=0.01)
    assert agreement(scattered) == pytest.approx(0.5, abs=0.01)
    if policy != "loss:1":  # whose limit depends on what earlier requests lost
        assert ConsensusWatch(StopPolicy.parse(policy), 25.0).look(steady, 4).decided
        assert not ConsensusWatch(StopPolicy.parse(policy), 25.0).look(scattered, 4).decided


@pytest.mark.parametrize(("knows_draws", "draws", "state"), [
    (False, (), "fitted"), (False, (COIMBRA,), "transferred"), (True, (COIMBRA,), "fitted"),
])  # fmt: skip
async def test_a_calibration_fitted_without_draws_is_transferred_for_answers_with_draws(
    consensus, knows_draws, draws, state
):
    fitted = CalibrationState(state="fitted")
    verifier = CalibrationStateVerifier(consensus, fitted, "generic", knows_draws=knows_draws)
    request = request_of(with_draws(trajectory(0, COIMBRA), *draws))
    (verdict,) = [item async for item in verifier.verify(request) if isinstance(item, Verdict)]
    assert verdict.calibration.state == state


def test_the_shipped_calibrations_were_fitted_without_draws():
    """So answers with draws say `transferred`, until `geotts accept` or `geotts calibrate` fits such runs."""
    assert not shipped_calibration("clues").knows_draws
    assert not shipped_calibration("default").knows_draws
