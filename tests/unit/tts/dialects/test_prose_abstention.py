"""What models say where they do not know the place, and what only sounds like it."""

import pytest

from tts.dialects.prose_abstention import is_abstention


@pytest.mark.parametrize(
    "text",
    [
        "I do not know where this is.",
        "I can’t tell from this photo.",
        "I'm unable to determine the exact location.",
        "The location cannot be determined from this image.",
        "It could not be identified.",
        "The place can't be pinpointed or located.",
        "There isn't enough information to go by.",
        "There is insufficient visual evidence.",
        "The location is not known.",
        "No idea.",
    ],
)
def test_a_place_that_is_not_known_is_an_abstention(text):
    assert is_abstention(text)


@pytest.mark.parametrize(
    "text",
    ["", "It is in Paris.", "I'm sorry, but I can't help with that.", "I identified the tower.", "Enough clues."],
)
def test_other_words_are_none(text):
    assert not is_abstention(text)
