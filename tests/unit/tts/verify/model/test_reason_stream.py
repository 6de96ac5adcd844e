"""Reasons are readable while the JSON around them is still being written."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tts.verify.model.reason_stream import ReasonStream


@given(
    reasons=st.lists(st.text(max_size=20), max_size=4),
    cuts=st.lists(st.integers(1, 7), min_size=1, max_size=20),
    ascii_only=st.booleans(),
)
def test_pieces_add_up_to_the_reasons_however_they_are_cut(reasons, cuts, ascii_only):
    opinion = {"reasons": [{"text": text, "evidence": ["A1"]} for text in reasons], "choice": "A"}
    written = json.dumps(opinion, ensure_ascii=ascii_only)
    stream, out, at = ReasonStream(), "", 0
    while at < len(written):
        width = cuts[at % len(cuts)]
        out += stream.feed(written[at : at + width])
        at += width
    assert out == "\n".join(reasons)


def test_text_without_json_adds_no_reasons():
    assert ReasonStream().feed("I would rather not say. " * 50) == ""
