"""Several readings of one line: rows are joined, cut-off readings go, a language asked for has to hold up."""

import pytest

from tts.clues.clue_reader import ClueReader
from tts.clues.line_trust import LineTrust, same_lines
from tts.domain.geo import LatLon, distance_km
from tts.domain.photo import Box
from tts.domain.reading import TextLine


@pytest.fixture(scope="module")
def lines(data_store):
    return LineTrust(data_store.gazetteer(), data_store.lexicon())


@pytest.fixture(scope="module")
def reader(data_store, countries):
    return ClueReader(data_store.gazetteer(), data_store.lexicon(), countries)


def line(text, *, x=(0.1, 0.5), y=(0.1, 0.2), confidence=0.95, language="", **more):
    box = Box(x0=x[0], y0=y[0], x1=x[1], y1=y[1])
    return TextLine(text=text, box=box, confidence=confidence, language=language, **more)


def test_readings_that_overlap_are_of_one_line():
    above, again, below = line("Inselpark"), line("Inselpar", x=(0.1, 0.45)), line("Eingang", y=(0.4, 0.5))
    assert same_lines([above, below, again]) == [[above, again], [below]]


def test_a_reading_that_was_cut_off_is_dropped_beside_the_whole_one(lines):
    found = lines.texts([line("+95 9 212 4505"), line("95 9 212 45", x=(0.15, 0.4))])
    assert list(found) == ["+95 9 212 4505"]


def test_lines_of_one_sign_stand_beside_each_other(lines):
    sign = [
        line("Rathaus"),
        line("Anadia", y=(0.22, 0.3)),
        line("Eingang", x=(0.8, 0.9), y=(0.22, 0.3)),
        line("Bar", y=(0.8, 0.9)),
    ]
    found = lines.neighbours_of_lines(sign)
    assert (found["Rathaus"], found["Anadia"]) == (("Anadia",), ("Rathaus",))
    assert (found["Eingang"], found["Bar"]) == ((), ())


def test_a_number_in_the_same_row_joins_its_line(lines):
    signpost = [line("Coimbra"), line("34", x=(0.6, 0.65)), line("Eingang", y=(0.4, 0.5))]
    assert "Coimbra 34" in lines.texts(signpost)
    assert "Eingang" in lines.texts(signpost)


@pytest.mark.parametrize(
    ("text", "language", "trusted"),
    [
        ("약국", "ko", True),
        ("аптека", "ru", True),
        ("ѕхџѓ кјљњ", "sr", False),
        ("аптека", "he", False),
        ("הו", "he", False),
        ("בית", "he", True),
    ],
)
def test_a_reading_in_a_requested_language_is_trusted_if_it_has_words_of_it(lines, text, language, trusted):
    found = lines.trust_in_requested_reading(line(text, language=language, confidence=0.9))
    assert (found >= 0.8) is trusted


def test_known_words_in_one_language_outdo_gibberish_in_another(lines):
    found = lines.texts([line("ANTEKQ"), line("аптека", language="ru", confidence=0.9)])
    assert found["аптека"] > 2 * found["ANTEKQ"]


def signposts(reader, texts):
    leads = reader.leads(dict.fromkeys(texts, 1.0))
    belief = reader.weigher.weigh(leads.clues, leads.mentions)
    return belief.best_point()[0]


def test_distances_on_a_signpost_tell_which_town_is_near(reader):
    aveiro, coimbra = LatLon(lat=40.6443, lon=-8.6455), LatLon(lat=40.2056, lon=-8.4196)
    assert distance_km(signposts(reader, ["Aveiro 2", "Coimbra 58"]), aveiro) < 20
    assert distance_km(signposts(reader, ["Aveiro 57", "Coimbra 2"]), coimbra) < 10


def test_a_reading_that_a_better_one_of_its_line_outdoes_names_no_place(reader):
    """“خیابان ایستگاه”, Station Street, read without its first letter has the name of a town."""
    read = [line("خیابان ایستگاه, 12345-11936", language="fa"), line("بابان استگاه, 1345-11936", language="fa")]
    assert all(
        "Bābān" not in {m.place.name for m in mention.matches}
        for mention in reader.leads(reader.lines.texts(read)).mentions
    )
    (mention, *_) = reader.leads(reader.lines.texts([line("بابان", language="fa")])).mentions
    assert mention.matches[0].place.name == "Bābān"


def test_a_certain_reading_is_kept_alone_where_a_requested_one_has_no_known_words(lines):
    thai = line("ไวทลสุน0ร50", language="th", confidence=0.8)
    assert list(lines.texts([line("Draquoso", confidence=0.99), thai])) == ["Draquoso"]
    assert "ไวทลสุน0ร50" in lines.texts([line("Draquoso", confidence=0.7), thai])
    assert list(lines.texts([line("+49 89 1234567", confidence=0.92), line("+49 89 123", confidence=0.97)])) == [
        "+49 89 1234567"
    ]
    assert "กรุงเทพ" in lines.texts([line("Draquoso", confidence=0.99), line("กรุงเทพ", language="th")])


def test_a_line_has_its_neighbours_also_where_a_number_stands_beside_it(lines):
    sign = [line("Rathaus"), line("Zelmorvat", y=(0.22, 0.3)), line("34", x=(0.6, 0.65), y=(0.22, 0.3))]
    assert dict((one.text, beside) for one, beside in lines.lines_with_neighbours(sign))["Zelmorvat"] == ("Rathaus",)
