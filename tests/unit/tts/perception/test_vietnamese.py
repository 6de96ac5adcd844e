"""Letters that only Vietnamese has, which the Latin reader leaves out."""

import numpy as np
import pytest

from tts.domain.photo_cleaning import load_photo
from tts.perception.sign_reader import SignReader
from tts.perception.tesseract import Tesseract
from tts.perception.vietnamese import VietnameseReader

CROP = np.zeros((4, 4, 3), dtype=np.uint8)


class _Tesseract:
    """Answers by the number of the line."""

    def __init__(self, answers, reads_vietnamese=True):
        self.answers = answers
        self.reads_vietnamese = reads_vietnamese
        self.asked = []

    def read(self, crop, language):
        self.asked.append(int(crop[0, 0, 0]))
        return self.answers[self.asked[-1]]


def read(texts, answers, **given):
    tesseract = _Tesseract(answers, **given)
    lines = {i: (np.full_like(CROP, i), text) for i, text in enumerate(texts)}
    found = VietnameseReader(tesseract).read(lines)
    return {i: line.text for i, line in found.items()}, tesseract.asked


def test_lines_without_their_accents_are_replaced_by_the_vietnamese_reading():
    found, _ = read(
        ["Thun Thanh", "Bưu đin", "0912 346 610"], [("Thuận Thanh", 0.95), ("Bưu điện", 0.96), ("0912 346 610", 0.9)]
    )
    assert found == {0: "Thuận Thanh", 1: "Bưu điện"}


def test_lines_that_look_like_no_vietnamese_are_not_read_again():
    assert read(["Bahnhof Straße", "Łódź", "МИР"], []) == ({}, [])
    assert read(["Bưu đin"], [], reads_vietnamese=False) == ({}, [])


def test_lines_with_accents_of_other_languages_are_read_again_twice_at_most():
    texts = ["Fermé", "à gauche", "café", "hôtel"]
    found, asked = read(texts, [(text, 0.9) for text in texts])
    assert found == {}
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("text", "answer"),
    [("São Bento", ("Sạ", 0.9)), ("Bưu đin", ("Bưu điện", 0.6)), ("Liberté", ("Ủy ban nhân dân", 0.95))],
)
def test_unsure_or_different_vietnamese_readings_do_not_count(text, answer):
    assert read([text], [answer])[0] == {}


def test_marks_of_the_frame_are_no_part_of_the_line():
    assert read(["Th Trn Đông Triu"], [(",Thị Trấn Đông Triều|", 0.9)])[0] == {0: "Thị Trấn Đông Triều"}


@pytest.mark.skipif(not Tesseract().reads_vietnamese, reason="tesseract-ocr-vie is not installed")
def test_a_photographed_sign_is_read_with_all_its_letters():
    pytest.importorskip("manimgx_fonts")
    from tts.eval.scenes.draw import draw_scene
    from tts.eval.scenes.fonts import FontShelf
    from tts.eval.scenes.templates import Line, Panel

    sign = Panel((Line("Bưu điện"), Line("Thuận Thanh")), "board", "town", ())
    reading = SignReader().read(load_photo(draw_scene([sign], "Latn", FontShelf(system=False), "1")))
    assert {line.text for line in reading.lines} == {"Bưu điện", "Thuận Thanh"}
    assert {line.script for line in reading.lines} == {"Latn"}
