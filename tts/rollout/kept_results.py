"""Kept results: tool results of the continued request, which a rollout need not ask for again.

A call is known by the name and the arguments that the model wrote, so that only the same dialect finds it again.
"""

from __future__ import annotations

from collections.abc import Iterable

from tts.domain.call_key import call_key
from tts.domain.earlier_request import KeptResult
from tts.domain.tooling import ToolCall
from tts.ports.toolbox import Attachment, ToolOutcome


class KnownResults:
    """Of one group of rollouts. Without any, every call is made."""

    def __init__(self, kept: Iterable[KeptResult]) -> None:
        self._results_by_call: dict[bytes, KeptResult] = {}
        for one in kept:
            self._results_by_call.setdefault(call_key(one.call), one)

    def outcome_of(self, call: ToolCall) -> ToolOutcome | None:
        """The result of a call as it was, marked as `kept`; None where it has to be made."""
        if not self._results_by_call or (kept := self._results_by_call.get(call_key(call))) is None:
            return None
        result = kept.result.model_copy(update={"call_id": call.id, "cached": True, "kept": True, "elapsed_s": 0.0})
        files = tuple(Attachment(sha256=sha256, media_type=kind, data=data) for sha256, kind, data in kept.files)
        return ToolOutcome(result, files)
