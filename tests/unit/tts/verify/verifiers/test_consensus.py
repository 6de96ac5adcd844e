"""The consensus as a function: order says nothing, ties are settled the same way, continents are never averaged."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rollouts import COIMBRA, OSAKA, answered_rollout, page, place

from tts.domain.geo import BBox, Circle, Countries, LatLon, distance_km
from tts.domain.hypothesis import Claim
from tts.verify.consensus.votes import votes_from
from tts.verify.evidence.ledger import Finding
from tts.verify.evidence.ledger_builder import build_ledger
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge

POINTS = st.builds(LatLon, lat=st.floats(-60, 70), lon=st.floats(-179, 179))


@pytest.fixture(scope="module")
def world(gazetteer, countries):
    return World(gazetteer, countries)


def centre(trajectories, world, **options):
    return judge(trajectories, (), world, **options).clusters[0].centre


@settings(max_examples=25)
@given(points=st.lists(POINTS, min_size=1, max_size=7), seed=st.integers(0, 999))
def test_the_order_of_rollouts_does_not_change_the_consensus(world, points, seed):
    runs = [answered_rollout(i, point) for i, point in enumerate(points)]
    first = judge(runs, (), world)
    random.Random(seed).shuffle(runs)
    again = judge([run.model_copy(update={"rollout_id": i}) for i, run in enumerate(runs)], (), world)
    assert again.clusters[0].centre == first.clusters[0].centre
    assert again.spread.vector() == pytest.approx(first.spread.vector(), abs=1e-9, nan_ok=True)


@settings(max_examples=25)
@given(points=st.lists(POINTS, min_size=1, max_size=7))
def test_the_answer_is_near_a_point_that_somebody_stated(world, points):
    """Never the mean of two continents: means are only taken of points that lie within 1500 km of each other."""
    found = centre([answered_rollout(i, point) for i, point in enumerate(points)], world)
    assert min(distance_km(found, point) for point in points) <= 1500


def test_a_tie_between_continents_is_settled_the_same_way_each_time(world):
    pair = [answered_rollout(0, COIMBRA), answered_rollout(1, OSAKA)]
    assert centre(pair, world) == centre(pair[::-1], world)
    assert centre(pair, world) in (COIMBRA, OSAKA)


def test_rollouts_on_one_result_are_one_witness(world):
    shared = [
        answered_rollout(i, OSAKA, facts=[page("Osaka", "https://example.org/a")], city="Osaka") for i in range(4)
    ]
    pages = [page("Osaka", f"https://example.org/{i}") for i in range(4)]
    pages = [fact.model_copy(update={"snippet": f"{fact.snippet}, part {i}"}) for i, fact in enumerate(pages)]
    apart = [answered_rollout(i, OSAKA, facts=[pages[i]], city="Osaka") for i in range(4)]

    def ledger(run):
        made = build_ledger(run, (), world)
        assert made is not None
        return made

    def total(runs):
        return sum(vote.weight for vote in votes_from([ledger(run) for run in runs], world))

    assert total(shared) < 1.6 * total(shared[:1])
    assert total(apart) > 3.9 * total(apart[:1])


def test_two_sources_that_lead_to_one_town_outweigh_many_copies_of_one(world):
    copies = [
        answered_rollout(i, OSAKA, facts=[page("Osaka", "https://example.org/a")], city="Osaka") for i in range(5)
    ]
    two = [
        answered_rollout(5, COIMBRA, facts=[place(COIMBRA, name="Coimbra", score=0.8)], city="Coimbra"),
        answered_rollout(6, COIMBRA, facts=[page("Coimbra", "https://example.org/b")], city="Coimbra"),
    ]
    assert centre([*copies, *two], world) == COIMBRA


@pytest.mark.parametrize(
    "within",
    [
        BBox(south=30, west=-20, north=50, east=20),
        Circle(centre=COIMBRA, radius_km=300),
        Countries(codes=("PT", "ES")),
    ],
)
def test_votes_outside_the_wanted_area_do_not_count(world, within):
    runs = [answered_rollout(0, OSAKA), answered_rollout(1, OSAKA), answered_rollout(2, COIMBRA)]
    assert centre(runs, world) == OSAKA
    assert centre(runs, world, within=within) == COIMBRA


def test_a_claim_without_a_tool_call_is_unsupported(world):
    ledger = build_ledger(answered_rollout(0, COIMBRA, claims=[Claim(text="the tiles look Portuguese")]), (), world)
    cited = next(entry for entry in ledger.entries if entry.about == "cited")
    assert (cited.finding, cited.call_id) == (Finding.UNSUPPORTED, None)
