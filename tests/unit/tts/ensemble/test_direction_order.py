"""Which directions siblings get: those that differ most, and each once."""

from hypothesis import given
from hypothesis import strategies as st

from tts.ensemble.direction_order import most_distinct


def test_the_first_named_direction_is_chosen_first_and_the_most_different_one_next():
    named = ("the phone number +48 22", "the phone number +48 12", "the tram in the street", "招牌上的文字")
    assert most_distinct(named) == (named[0], named[3], named[2])


def test_of_two_equal_directions_the_earlier_is_kept():
    assert most_distinct(("Read the plate", "read the  PLATE", "read the plates")) == ("Read the plate",)


def test_no_directions_are_chosen_if_none_were_named():
    assert most_distinct(()) == ()


@given(st.lists(st.text(max_size=30), max_size=8))
def test_directions_are_chosen_from_the_named_ones_and_each_only_once(named):
    chosen = most_distinct(named)
    assert set(chosen) <= set(named)
    assert len(set(chosen)) == len(chosen)
    assert chosen[:1] == tuple(named[:1])
