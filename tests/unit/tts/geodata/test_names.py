import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.geodata.names import normalise, place_key, script_of, trigrams


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("München", "munchen"),
        ("Łódź", "lodz"),
        ("SÃO PAULO", "sao paulo"),
        ("Saint-Étienne", "saint etienne"),
        ("L’Aquila", "laquila"),
        ("Ἀθῆναι", "αθηναι"),
        ("Санкт-Петербург", "санкт петербург"),
        ("القَاهِرَة", "القاهره"),
        ("ﾄｳｷｮｳ", "トウキョウ"),
        ("서울", "서울"),
        ("नई दिल्ली", "नई दिल्ली"),
        ("กรุงเทพ", "กรุงเทพ"),
        ("  St.  Gallen! ", "st gallen"),
        ("…", ""),
    ],
)
def test_spellings_of_a_name_are_normalised_to_one_form(written, same):
    assert normalise(written) == same


@given(st.text(max_size=40))
def test_normalising_twice_changes_nothing_and_never_raises(text):
    assert normalise(normalise(text)) == normalise(text)
    assert all(len(gram) == 3 for gram in trigrams(normalise(text)))


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_ascii_text_is_normalised_alike_beside_other_letters(text):
    assert f"e {normalise(text)}".strip() == normalise(f"é {text}")


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Straße", "Latn"), ("АПТЕКА", "Cyrl"), ("Αθήνα", "Grek"), ("東京", "Hani"), ("東京タワー", "Jpan"),
        ("ラーメン", "Jpan"), ("서울역", "Hang"), ("שלום", "Hebr"), ("مرحبا", "Arab"), ("ไทย", "Thai"),
        ("हिन्दी", "Deva"), ("თბილისი", "Geor"), ("Երևան", "Armn"), ("1234", ""), ("Bar АПТЕКА", "Cyrl"),
    ],
)  # fmt: skip
def test_the_dominant_script_of_a_text_is_found(text, script):
    assert script_of(text) == script


@pytest.mark.parametrize("other", ["لاليان", "لاليان".translate({0x64A: 0x649}), "لالیان"])
def test_letters_that_arabic_persian_and_urdu_write_differently_are_one_in_a_place_key(other):
    assert place_key(other) == place_key("لالیان")
    assert place_key("گجرات") != place_key("کجرات")
