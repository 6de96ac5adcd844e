"""What of a trace context that a caller sends is passed on."""

import pytest

from tts.domain.trace_context import TraceContext, trace_context

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


def test_traceparent_and_tracestate_are_passed_on():
    found = trace_context(f" {PARENT} ", "vendor=1,other=a b")
    assert found == TraceContext(traceparent=PARENT, tracestate="vendor=1,other=a b")
    assert found.headers() == {"traceparent": PARENT, "tracestate": "vendor=1,other=a b"}
    assert trace_context(PARENT).headers() == {"traceparent": PARENT}


@pytest.mark.parametrize(
    "parent",
    [None, 7, "", {}, "garbage", PARENT + "-x", PARENT.upper(), f"ff-{TRACE}-{SPAN}-01", f"00-{'0' * 32}-{SPAN}-01",
     f"00-{TRACE}-{'0' * 16}-01", PARENT + "\r\nX-Evil: 1", PARENT.replace("4", "é"), PARENT[:-1]],
)  # fmt: skip
def test_an_invalid_traceparent_is_not_passed_on(parent):
    assert trace_context(parent, "vendor=1") is None


@pytest.mark.parametrize("state", [None, 7, "", " ", "é=1", "a=1\r\nX-Evil: 1", "a=" + "1" * 600])
def test_an_invalid_tracestate_is_left_out(state):
    assert trace_context(PARENT, state) == TraceContext(traceparent=PARENT)
