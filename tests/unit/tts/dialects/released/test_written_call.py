"""Tool calls as the model wrote them: arguments that are no object are kept, and events have the plain call."""

import pytest

from tts.dialects.released.written_call import arguments_of, as_plain_call, written_call
from tts.domain.tooling import ToolCall


@pytest.mark.parametrize(("written", "plain"), [({"query": "x"}, {"query": "x"}), ([1], {}), ("text", {}), (None, {})])
def test_arguments_are_kept_as_written_and_events_have_an_object(written, plain):
    call = written_call("c1", "search", written, whole={"name": "search"})
    assert arguments_of(call) == written
    assert as_plain_call(call) == ToolCall(id="c1", name="search", arguments=plain)
    assert type(as_plain_call(call)) is ToolCall


def test_a_plain_call_stays_as_it_is():
    call = ToolCall(id="c1", name="search", arguments={"query": "x"})
    assert (arguments_of(call), as_plain_call(call)) == ({"query": "x"}, call)
