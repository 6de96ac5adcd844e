"""Lines of several rollouts, weighed together: a name one could read, in the country another knew."""

import pytest
from support.rollouts import OSAKA, answered_rollout

from tts.clues.clue_reader import ClueReader
from tts.domain.geo import LatLon, distance_km
from tts.domain.photo import Box
from tts.domain.reading import Reading, TextLine
from tts.verify.evidence.world import World
from tts.verify.verifiers.consensus import judge

LISBON = LatLon(lat=38.7169, lon=-9.1399)
WARSAW = LatLon(lat=52.2298, lon=21.0118)
KRAKOW = LatLon(lat=50.0614, lon=19.9366)


@pytest.fixture(scope="module")
def world(data_store, countries):
    gazetteer = data_store.gazetteer()
    return World(gazetteer, countries, ClueReader(gazetteer, data_store.lexicon(), countries))


def line(text, row):
    box = Box(x0=0.1, y0=0.1 * row, x1=0.6, y1=0.1 * row + 0.08)
    return TextLine(text=text, box=box, confidence=0.95)


SHOP = line("Sklep spożywczy", 1)
NUMBER = line("+48 601 345 678", 3)
TOWN = line("Nowy Targ", 5)
SHOWN = (Reading(photo_sha256="0" * 64, lines=(SHOP, NUMBER, TOWN)),)


def test_parts_of_the_evidence_add_up_to_an_answer_nobody_gave(world):
    runs = [
        answered_rollout(0, WARSAW, read=(SHOP, NUMBER), country_code="PL"),
        answered_rollout(1, LISBON, read=(TOWN,), country_code="PT"),
        answered_rollout(2, WARSAW, read=(SHOP,), country_code="PL"),
    ]
    judged = judge(runs, SHOWN, world)
    assert distance_km(judged.clusters[0].centre, LatLon(lat=49.48, lon=20.03)) < 25
    assert judged.clusters[0].rollouts == ()
    assert len(judged.ledgers) == 3


def test_rollouts_that_all_abstain_may_know_enough_together(world):
    runs = [answered_rollout(0, None, read=(SHOP, NUMBER)), answered_rollout(1, None, read=(TOWN,))]
    judged = judge(runs, SHOWN, world)
    assert judged.spread is not None
    assert distance_km(judged.clusters[0].centre, LatLon(lat=49.48, lon=20.03)) < 25


def test_a_line_claimed_by_one_rollout_counts_only_if_it_was_read_in_the_photo(world):
    made_up = [answered_rollout(0, OSAKA, read=(TOWN, NUMBER)), answered_rollout(1, OSAKA, read=(line("Ciao", 7),))]
    assert distance_km(judge(made_up, (), world).clusters[0].centre, OSAKA) < 1
    assert distance_km(judge(made_up, SHOWN, world).clusters[0].centre, OSAKA) > 5000


def test_a_few_guesses_decide_nothing_if_the_pooled_lines_say_too_little(world):
    unclear = line("Oo", 1)
    abstaining = [answered_rollout(i, None, read=(unclear,)) for i in range(3)]
    assert judge([*abstaining, answered_rollout(3, OSAKA, read=(unclear,))], (), world).spread is None
    assert (
        judge([*abstaining, *(answered_rollout(i, OSAKA, read=(unclear,)) for i in (3, 4, 5))], (), world).spread
        is not None
    )


def test_without_stated_lines_votes_decide_alone(world):
    runs = [answered_rollout(i, OSAKA) for i in range(3)]
    judged = judge(runs, SHOWN, world)
    assert len(judged.votes) == 3
    assert judged.clusters[0].rollouts == (0, 1, 2)


def test_the_order_of_rollouts_does_not_change_the_pooled_answer(world):
    runs = [
        answered_rollout(0, WARSAW, read=(SHOP, NUMBER)),
        answered_rollout(1, LISBON, read=(TOWN, SHOP)),
        answered_rollout(2, KRAKOW, read=(SHOP,)),
    ]
    centre = judge(runs, SHOWN, world).clusters[0].centre
    assert judge(runs[::-1], SHOWN, world).clusters[0].centre == centre
