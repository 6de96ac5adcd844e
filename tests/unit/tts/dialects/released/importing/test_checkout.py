"""The commit and the licence of a checkout."""

from tts.dialects.released.importing.checkout import licence_of


def test_only_the_title_of_a_licence_that_begins_with_a_long_sentence_is_shown(tmp_path):
    (tmp_path / "LICENSE").write_text("Attribution 4.0\n\n=====\n\n" + "A corporation is no law firm. " * 5)
    assert licence_of(tmp_path) == "Attribution 4.0"
