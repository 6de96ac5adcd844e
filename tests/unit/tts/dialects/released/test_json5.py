"""JSON5 as tool calls of the notebook are read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tts.dialects.released.json5 import read_json5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 1, 'b': [2, 3,], }", {"a": 1, "b": [2, 3]}),
        ("// a comment\n[0x1F, .5, +2., -1e2] /* end */", [31, 0.5, 2.0, -100.0]),
        (r"'it\'s \x41\u0042\n'", "it's AB\n"),
        ("[true, false, null, -Infinity]", [True, False, None, float("-inf")]),
    ],
)
def test_what_json_lacks_is_read(text, value):
    assert read_json5(text) == value


@pytest.mark.parametrize(
    "text", ["", "{a: }", "[1 2]", "'open", "{a 1}", "nothing", "1 2", "01", "[" * 100 + "]" * 100]
)
def test_what_is_no_json5_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        read_json5(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_all_json_is_read_as_json(value):
    assert read_json5(json.dumps(value, ensure_ascii=False)) == value
