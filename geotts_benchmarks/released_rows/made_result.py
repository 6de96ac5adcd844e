"""Results of tools that no tool was called for, where a row needs a text that a tool might have returned."""

from __future__ import annotations

from tts.domain.tooling import ToolCall
from tts.ports.toolbox import ToolOutcome
from tts.toolkit.spec import Observation
from tts.toolkit.toolbox import success_outcome


def made_result(text: str, *, name: str = "made-up", call_id: str = "made-up") -> ToolOutcome:
    """The outcome of a call that returned this text."""
    call = ToolCall(id=call_id, name=name, arguments={})
    return success_outcome(call, Observation(text=text), elapsed_s=0.0, retrieved_at="")
