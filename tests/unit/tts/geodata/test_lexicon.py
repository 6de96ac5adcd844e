import pytest


@pytest.fixture(scope="module")
def lexicon(data_store):
    return data_store.lexicon()


@pytest.mark.parametrize(
    ("word", "language"), [("vietato", "it"), ("Garten", "de"), ("HUDEBNÍ", "cs"), ("sauf", "fr"), ("iglesia", "es")]
)
def test_the_lexicon_finds_the_language_of_a_word(lexicon, word, language):
    found = lexicon.frequencies(word)
    assert max(found, key=found.get) == language


def test_common_words_have_a_high_frequency_and_unknown_ones_none(lexicon):
    assert lexicon.zipf("the") > 7
    assert lexicon.zipf("stop") > 5
    assert lexicon.zipf("qwxzzyplk") == 0
    assert lexicon.frequencies("") == {}


def test_the_lists_cover_many_languages_and_scripts(lexicon):
    assert len(lexicon.languages) >= 40
    assert "ru" in lexicon.frequencies("аптека")
    assert "el" in lexicon.frequencies("φαρμακείο")
    assert len(lexicon) > 1_000_000
