"""A line read in a requested language: as it was found in the whole photo, with more around it and with less."""

import pytest

from tts.domain.photo import Box
from tts.perception.script_recognition import ForeignLine
from tts.perception.sign_reader import SignReader

WHOLE = Box(x0=0.0, y0=0.0, x1=1.0, y1=1.0)


class HeightReader:
    """Reads from each line how high its picture is, and is surest of one that is cut off."""

    warnings = ()

    def __init__(self):
        self.heights = []

    def read_as(self, crop, tag):
        self.heights.append(crop.shape[0])
        return ForeignLine(f"{crop.shape[0]} high", 0.9 if len(self.heights) % 3 == 0 else 0.7, tag)


@pytest.fixture
def reader(monkeypatch):
    made = SignReader()
    monkeypatch.setattr(made, "_foreign_reader", HeightReader())
    return made


@pytest.fixture
def lines(sign_photo):
    """The two lines of the sign, from the top, as they are found without a language."""
    return sorted(SignReader().read(sign_photo).lines, key=lambda line: line.box.y0)


def around(box, margin=0.02):
    return Box(x0=box.x0 - margin, y0=box.y0 - margin, x1=box.x1 + margin, y1=box.y1 + margin)


def test_the_surest_reading_stands_first_and_the_others_are_alternatives(reader, sign_photo):
    (line, *_) = reader.read(sign_photo, WHOLE, "hi").lines
    found, wide, cut = reader._foreign_reader.heights[:3]
    assert wide > found > cut
    assert line.text == f"{cut} high"
    assert set(line.alternatives) == {f"{found} high", f"{wide} high"}


def test_a_box_around_one_line_gives_this_line_as_it_was_found_in_the_whole_photo(reader, sign_photo, lines):
    for line in lines:
        (found,) = reader.read(sign_photo, around(line.box), "hi").lines
        assert found.box == line.box


def test_a_box_with_several_lines_is_enlarged_and_looked_at_again(reader, sign_photo, lines):
    both = Box(x0=0.0, y0=0.0, x1=1.0, y1=0.99)
    assert len(reader.read(sign_photo, both, "hi").lines) == len(lines)
    assert max(reader._foreign_reader.heights) > max(line.height_px for line in lines)


def test_the_whole_photo_in_a_language_has_all_its_lines(reader, sign_photo, lines):
    assert {line.box for line in reader.read(sign_photo, WHOLE, "hi").lines} == {line.box for line in lines}


def test_a_box_with_no_line_of_its_own_is_read_as_one(reader, blank_photo):
    (found,) = reader.read(blank_photo, Box(x0=0.1, y0=0.1, x1=0.4, y1=0.3), "hi").lines
    assert (found.box.x0, found.box.y1) == (0.1, 0.3)


def test_lines_are_looked_for_once_in_a_photo_that_is_read_in_several_languages(reader, sign_photo, lines, monkeypatch):
    looked = []
    detect = reader._ppocr.detect

    def look(pixels):
        looked.append(pixels.shape)
        return detect(pixels)

    monkeypatch.setattr(reader._ppocr, "detect", look)
    for language in ("hi", "th", "ar"):
        reader.read(sign_photo, WHOLE, language)
        reader.read(sign_photo, around(lines[0].box), language)
    assert len(looked) == 1
