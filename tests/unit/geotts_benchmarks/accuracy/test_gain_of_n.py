"""What more samples gain: pooled over seeds, with photos as what is drawn for the intervals."""

import pytest
from support.made_answers import an_answer

from geotts_benchmarks.accuracy.gain_of_n import gain_of_n
from tts.domain.geo import LatLon
from tts.domain.request import LocateOptions
from tts.eval.runs.record import Record
from tts.eval.sample import Truth

HERE = LatLon(lat=46.0, lon=9.0)


def run_of(photo, km, slack_m=0.0):
    """A run with an answer so many km north of the truth, with a 90 % radius of 40 km; None for a failure."""
    answer = None if km is None else an_answer(lat=HERE.lat + km / 111.195, lon=HERE.lon)
    return Record(
        dataset="made", sample=photo, truth=Truth(point=HERE, accuracy_radius_m=slack_m), elapsed_s=1.0,
        options=LocateOptions(), answer=answer, failure="" if answer else "gone",
    )  # fmt: skip


def gain_of(one, eight):
    return gain_of_n({1: one, 8: eight})["gain"]


def test_the_gain_is_a_difference_in_points_at_each_distance():
    one = [run_of("a", 100), run_of("b", 0.1), run_of("c", None), run_of("d", 3000)]
    found = gain_of(one, [run_of("a", 10), run_of("b", 0.1), run_of("c", 10), run_of("d", 3000)])
    assert [found[f"acc_{km}"][0] for km in (1, 25, 200, 750)] == [0, 50, 25, 25]
    assert found["mean"][0] == 25
    assert found["cover90"][0] == 75
    assert (found["photos"], found["runs"]) == (4, 4)


def test_several_runs_of_a_photo_count_as_one_photo_in_the_interval():
    """One photo of eight is gained with all five seeds: that is one photo, and the interval reaches 0."""
    one = [run_of(str(photo), 3000) for photo in range(8)] * 5
    eight = [run_of(str(photo), 3000 if photo else 10) for photo in range(8)] * 5
    found = gain_of(one, eight)
    assert found["acc_25"][:2] == [12.5, 0]
    assert found["runs"] == 40


def test_the_interval_of_the_cover_is_over_photos_and_not_over_their_runs():
    one = [run_of(str(photo), 10) for photo in range(10)]
    once, five_times = gain_of(one, one)["cover90"], gain_of(one * 5, one * 5)["cover90"]
    assert once == five_times
    missed = [run_of(str(photo), 10 if photo else 90) for photo in range(10)] * 5
    assert gain_of(missed, missed)["cover90"][0] == 90


def test_an_error_within_the_slack_of_a_label_counts_as_right():
    found = gain_of([run_of("a", 30, slack_m=50_000)], [run_of("a", 60, slack_m=50_000)])
    assert found["acc_25"][0] == -100
    assert found["cover90"][0] == 100


@pytest.mark.parametrize("runs", [{}, {8: [run_of("a", 1)]}])
def test_runs_with_a_single_n_have_no_gain(runs):
    assert gain_of_n(runs) == {}
