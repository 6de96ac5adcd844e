"""What stands between two marks: the same as the regular expression would find, in linear time."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tts.domain.text_between_marks import between_tags, value_between_tags, widest_object
from tts.rewards.released import reverse_marks, reverse_reward

PIECES = ["<a>", "</a>", "<A>", "{", "}", "[", "]", " ", "\n", "x", "<useful>", "</useful>", "<a", ">"]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def groups(pattern, text, flags=re.DOTALL):
    return [(found.start(), found[1], found.end()) for found in re.finditer(pattern, text, flags)]


@given(texts)
def test_text_between_tags_equals_what_the_regular_expression_finds(text):
    assert list(between_tags("a").finditer(text)) == groups("<a>(.*?)</a>", text)


@given(texts)
def test_tags_may_be_written_in_capitals(text):
    expected = groups("<a>(.*?)</a>", text, re.DOTALL | re.IGNORECASE)
    assert list(between_tags("a", re.IGNORECASE).finditer(text)) == expected


@given(texts)
def test_a_value_between_tags_equals_what_the_regular_expression_finds(text):
    found = [enclosed.text for enclosed in value_between_tags("a", "{}").finditer(text)]
    assert found == [value for _, value, _ in groups(r"<a>\s*(\{.*?\})\s*</a>", text)]


@given(texts)
def test_a_list_between_tags_equals_what_the_regular_expression_finds(text):
    found = value_between_tags("useful", "[]").findall(text)
    assert found == [value for _, value, _ in groups(r"<useful>\s*(\[.*?\])\s*</useful>", text)]


@given(texts)
def test_the_widest_object_equals_what_the_regular_expression_finds(text):
    found = re.search(r"\{.*\}", text, re.DOTALL)
    assert widest_object(text) == (found[0] if found else None)


@given(texts)
def test_the_first_list_of_marks_equals_what_the_regular_expression_finds(text):
    found = re.search(r"<useful>\s*\[([^\]]*)\]\s*</useful>", text)
    assert reverse_marks._first_list(text) == (found[1] if found else "")


@given(st.lists(st.sampled_from(["1", "23", ".", ",", " ", "-", "+", "x"]), max_size=14).map("".join))
def test_pairs_of_numbers_equal_what_the_expression_of_the_authors_finds(text):
    number = r"[-+]?\d+(?:\.\d+)?"
    assert reverse_reward._NUMBER_PAIR.findall(text) == re.findall(rf"({number})\s*,\s*({number})", text)
