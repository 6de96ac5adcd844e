"""The stop policy `loss`: it stops where little is lost, never spends more than it was allowed, and learns from
rollouts that were seen to their end whether these rollouts change their answer."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.voters import LYON, OSAKA, point_east, rollout_at

from tts.domain.geo import LatLon
from tts.domain.stop_experience import StopExperience, StopState
from tts.domain.stop_policy import StopPolicy
from tts.domain.stop_table import Band, BandTable, Cell, CellLoss, StopTable, shipped_stop_table
from tts.ensemble.consensus_watch import ConsensusWatch
from tts.eval.labelled_cases import LabelledCase
from tts.eval.stop_fitting import fit_stop
from tts.verify.evidence.world import World

QUITO = LatLon(lat=-0.18, lon=-78.47)
PAIR = Cell(2, 0, False)
ALONE = Cell(1, 0, False)


def names_no_town_centre(_):
    return math.inf


def names_a_town_centre(_):
    return 0.1


def rollouts_used(points, *, experience=None, policy="loss:1", radius_km=25.0, guesses=names_no_town_centre):
    """How many rollouts of one request end before the others are stopped."""
    watch = ConsensusWatch(StopPolicy.parse(policy), radius_km, guesses, experience=experience)
    for count in range(1, len(points) + 1):
        if watch.look([rollout_at(i, point) for i, point in enumerate(points[:count])], len(points)).decided:
            return count
    return len(points)


def in_region(loss, *, votes=2):
    row = CellLoss(votes=votes, against=0, left=1, loss=loss, runs=100)
    bands = dict.fromkeys(Band, BandTable(worth=(0.05, 0.3, 0.6), cells=(row,)))
    return StopTable(origin="test", bands=bands)


@pytest.mark.parametrize("text", ["loss:", "loss:100", "loss:-1", "loss:1.234", "loss:x"])
def test_a_loss_that_is_no_number_of_points_is_refused(text):
    with pytest.raises(ValueError, match="not a stop policy"):
        StopPolicy.parse(text)


@pytest.mark.parametrize("radius_km", [25.0, 200.0, 750.0])
def test_two_of_four_that_agree_stop_the_others_and_two_that_do_not_agree_do_not(radius_km):
    assert rollouts_used([LYON, point_east(2), OSAKA, QUITO], radius_km=radius_km) == 2
    assert rollouts_used([LYON, OSAKA, QUITO, point_east(2)], radius_km=radius_km) == 4


def test_two_rollouts_on_one_statement_do_not_agree_they_are_copies():
    watch = ConsensusWatch(StopPolicy.parse("loss:1"), 25.0)
    copies = [rollout_at(i, LYON, place="Bar Tabac") for i in range(2)]
    assert not watch.look(copies, 4).decided
    assert watch.look([*copies, rollout_at(2, LYON, place="Quai Perrache")], 4).decided


def test_a_lone_rollout_stops_the_others_only_if_it_guesses_and_loss_was_saved_up():
    experience = StopExperience()
    for _ in range(30):
        experience.begin_request(Band.TOWN, 0.01)
    assert rollouts_used([LYON, OSAKA, QUITO], experience=experience, guesses=names_no_town_centre) > 1
    assert rollouts_used([LYON, OSAKA, QUITO], experience=experience, guesses=names_a_town_centre) == 1
    assert rollouts_used([LYON, OSAKA, QUITO], guesses=names_a_town_centre) > 1


def test_rollouts_that_never_change_their_answer_are_stopped_before_the_table_says():
    settled, experience = [LYON, point_east(2), point_east(1), point_east(3)], StopExperience(in_region(0.05))
    before = rollouts_used(settled, experience=experience)
    for _ in range(300):
        rollouts_used(settled, experience=experience)
    assert (before, rollouts_used(settled, experience=experience)) == (4, 2)


def test_rollouts_that_change_their_answer_are_not_stopped_whatever_the_table_says():
    outvoted, experience = [LYON, point_east(2), OSAKA, OSAKA, OSAKA], StopExperience(in_region(0.0))
    state = StopState(Band.TOWN, 5, 2, PAIR)
    first = experience.expected_loss(state)
    stops = [rollouts_used(outvoted, experience=experience) for _ in range(300)]
    assert experience.expected_loss(state) > 10 * first
    assert stops[0] == 2
    assert stops[-2] == 5


def test_every_64th_request_runs_all_its_rollouts_to_the_end():
    experience = StopExperience(in_region(0.0))
    ends = [rollouts_used([LYON, point_east(1), point_east(2)], experience=experience) for _ in range(128)]
    assert [i + 1 for i, end in enumerate(ends) if end == 3] == [64, 128]


@given(st.lists(st.sampled_from([(PAIR, 0.02), (ALONE, 0.2), (Cell(2, 1, False), 0.06)]), max_size=300))
def test_no_more_is_spent_than_requests_were_allowed_to_lose(cells):
    experience, spent = StopExperience(), 0.0
    for cell, _ in cells:
        if experience.begin_request(Band.TOWN, 0.01):
            state = StopState(Band.TOWN, 4, cell.votes + cell.against, cell)
            expected = experience.expected_loss(state)
            spent += expected if experience.withdraw_loss(state, 0.01) else 0.0
    assert spent <= 0.01 * (len(cells) + 2) + 1e-9


def test_the_loss_of_a_stop_grows_with_remaining_rollouts_and_is_1_if_unknown():
    table = shipped_stop_table().bands[Band.TOWN]
    losses = [table.loss(PAIR, remaining) for remaining in range(1, 12)]
    assert losses == sorted(losses)
    assert losses[0] < losses[-1]
    assert table.loss(Cell(3, 2, False), 2) == table.loss(Cell(1, 2, False), 2)
    assert BandTable(worth=(0, 0, 0), cells=()).loss(PAIR, 1) == 1.0


def scattered_point(i, truth):
    return [OSAKA, QUITO, truth, LatLon(lat=truth.lat + 0.01, lon=truth.lon)][i]


@pytest.fixture
def cases():
    """Two wrong rollouts that do not agree, two right ones that do; in every order."""
    truths = [LatLon(lat=45.76 + 0.05 * i, lon=4.84) for i in range(40)]
    return [LabelledCase(str(t), t, tuple(rollout_at(i, scattered_point(i, t)) for i in range(4))) for t in truths]


def test_the_table_gives_the_value_of_a_change_in_the_worst_of_several_families(cases, gazetteer, countries):
    world = World(gazetteer, countries)
    made = fit_stop({"mine": cases}, world, names_no_town_centre).bands[Band.TOWN]
    assert made.worth[1] > 0.4  # two agree at last, and they are right
    assert made.loss(PAIR, 1) == made.loss(PAIR, 2) == 0.0
    assert made.loss(Cell(1, 1, False), 2) > 0.15
    same = [LabelledCase(c.key, c.truth, (c.trajectories[2], c.trajectories[3]) * 2) for c in cases]
    both = fit_stop({"mine": cases, "same": same}, world, names_no_town_centre).bands[Band.TOWN]
    assert both.loss(Cell(1, 1, False), 2) == pytest.approx(made.loss(Cell(1, 1, False), 2))
