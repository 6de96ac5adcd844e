"""What models really write: a corpus of mangled outputs with what each of them means, and what chance makes of them.

A dialect reads tolerantly and never guesses: an output is a call, an answer, an abstention, or a problem with a reason.
"""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tts.dialects import DIALECTS
from tts.dialects.base import Completion

CORPUS = [
    json.loads(line) for line in (Path(__file__).parents[3] / "data" / "malformed.jsonl").read_text().splitlines()
]


def meaning(parsed):
    """What a parsed turn means, in the words of the corpus."""
    if parsed.calls:
        return {"kind": "call", "name": parsed.calls[0].name, "arguments": parsed.calls[0].arguments}
    if parsed.answer is None:
        return {"kind": "problem" if parsed.problem else "nothing"}
    if parsed.lookups:
        return {"kind": "named", "country": parsed.answer.country, "place": parsed.answer.place}
    point = parsed.answer.point
    if point is None:
        return {"kind": "abstain"}
    return {"kind": "answer", "lat": point.lat, "lon": point.lon}


def test_the_corpus_is_large_and_covers_every_dialect():
    assert len(CORPUS) >= 300
    assert {case["dialect"] for case in CORPUS} == set(DIALECTS)


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_every_malformed_output_is_read_as_the_corpus_expects(name):
    wrong = []
    for case in (case for case in CORPUS if case["dialect"] == name):
        completion = Completion(case["text"], truncated=case["truncated"])
        found = meaning(DIALECTS[name].parse(completion, turn=0))
        expected = case["expect"]
        if expected["kind"] == "answer" and found["kind"] == "answer":
            found = {key: pytest.approx(value, abs=1e-5) if key != "kind" else value for key, value in found.items()}
        if expected != found:
            wrong.append(f"{case['why']}: {case['text']!r} means {found}, not {expected}")
    assert not wrong, "\n".join(wrong)


def test_no_malformed_output_raises_or_takes_long_in_any_dialect():
    started = time.process_time()
    for case in CORPUS:
        for dialect in DIALECTS.values():
            dialect.parse(Completion(case["text"], truncated=case["truncated"]), turn=0)
    assert time.process_time() - started < 10.0


@settings(max_examples=150)
@given(st.data())
def test_randomly_mangled_outputs_are_read_with_exactly_one_meaning(data):
    """Corpus texts with slices cut out, doubled, and characters strewn in: always one meaning, never an error."""
    text = data.draw(st.sampled_from(CORPUS))["text"]
    for _ in range(data.draw(st.integers(1, 4))):
        at, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
        middle = data.draw(
            st.sampled_from(["", text[at:end] * 2, "{", '"', "}", "<tool_call>", "</think>", "<answer>", "\\", "\x00"])
        )
        text = text[:at] + middle + text[end:]
    for dialect in DIALECTS.values():
        parsed = dialect.parse(Completion(text), turn=1)
        assert bool(parsed.calls) + (parsed.answer is not None) + (parsed.problem is not None) == 1


@pytest.mark.parametrize(
    "piece", ["{", '{"a":', "<tool_call>", "<think>", "<answer>", "[" * 40, '\\"', "1,", "a: b, ", "9°9'"]
)
def test_long_hostile_texts_are_read_in_linear_time(piece):
    text = piece * (100_000 // len(piece))
    started = time.process_time()
    for dialect in DIALECTS.values():
        dialect.parse(Completion(text), turn=0)
    assert time.process_time() - started < 20.0
