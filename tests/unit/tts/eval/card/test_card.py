"""The figures of a method card, from rows whose figures are known."""

import pytest

from tts.eval.card.card import card_of
from tts.eval.card.card_row import AnsweredPoint, CardRow, Cost


def answered(error_km, confidence, **more):
    point = AnsweredPoint(error_km=error_km, right=error_km < 25, confidence=confidence, **more)
    return CardRow(continent="Europe", target_km=25.0, answered=point)


ROWS = (
    answered(0.5, 0.9, in_radius50=True, in_radius90=True, radius90_km=10.0),
    answered(20.0, 0.8, in_radius50=False, in_radius90=True, radius90_km=30.0),
    answered(3000.0, 0.2, in_radius50=False, in_radius90=False, radius90_km=50.0),
    CardRow(continent="Asia", target_km=25.0),
    CardRow(continent="Asia", target_km=25.0, failed=True),
)


def test_shares_are_of_the_photos_that_did_not_fail_and_covers_of_the_answers_with_a_radius():
    whole = card_of("made", ROWS, "nothing").whole
    assert (whole.n, whole.failed, whole.abstained.value) == (5, 1, 25.0)
    assert [share.value for share in whole.within] == [25.0, 50.0, 50.0, 50.0, 50.0]
    assert (whole.median_km, whole.radius90_median_km) == (20.0, 30.0)
    assert whole.cover50 is not None
    assert whole.cover90 is not None
    assert (whole.cover50.value, whole.cover90.value) == pytest.approx((100 / 3, 200 / 3))


def test_each_continent_has_a_row():
    parts = {part.name: part for part in card_of("made", ROWS, "nothing").by_continent}
    assert {name: part.n for name, part in parts.items()} == {"Asia": 2, "Europe": 3}
    assert parts["Asia"].median_km is None


def test_the_risk_is_that_of_the_surest_answers_and_ends_where_only_abstentions_are_left():
    points = card_of("made", ROWS, "nothing").risk_coverage
    assert [(point.n, point.risk.value) for point in points] == [(1, 0.0), (2, 0.0), (3, pytest.approx(100 / 3))]


def test_an_answer_within_the_precision_of_the_truth_is_within_every_distance():
    (share, *_) = card_of("made", [answered(3.0, 0.5, slack_km=4.0)], "nothing").whole.within
    assert share.value == 100.0


def test_a_card_has_a_cost_only_where_one_is_known():
    cost = Cost(tokens=100, seconds=2.0, usd=0.01)
    assert card_of("made", ROWS, "nothing").cost is None
    found = card_of("made", [ROWS[0].model_copy(update={"cost": cost}), *ROWS[1:]], "nothing").cost
    assert found is not None
    assert (found.n, found.tokens.value, found.p50_s) == (1, 100.0, 2.0)
