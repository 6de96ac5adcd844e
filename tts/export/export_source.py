"""The source of an export: the request of one photo, from a reply, a run file or an event log."""

from __future__ import annotations

from typing import Literal

from tts.domain.answer import Answer
from tts.domain.outline import NO_OUTLINES, AnswerOutlines
from tts.domain.trajectory import Run
from tts.domain.value import Value

Outcome = Literal["answered", "abstained", "failed"]


class LocatedPhoto(Value):
    """`name` is how people call the photo, `answer` is None where the request failed, and then `failure` says why.

    `run` has no trajectories where the source holds the answer alone. `outlines` are those of the countries and
    regions that the answer is about.
    """

    name: str
    request_id: str = ""
    answer: Answer | None = None
    run: Run = Run()
    failure: str = ""
    outlines: AnswerOutlines = NO_OUTLINES

    @property
    def outcome(self) -> Outcome:
        """Whether there is a point, an abstention, or no answer at all."""
        if self.answer is None:
            return "failed"
        return "abstained" if self.answer.abstained else "answered"


def located_from(name: str, run: Run) -> LocatedPhoto:
    """The request whose events were folded into `run`."""
    request_id = run.accepted.request_id if run.accepted is not None else ""
    failure = ""
    if run.answer is None:
        failure = run.failure.detail if run.failure is not None else "it has not ended with an answer"
    return LocatedPhoto(name=name, request_id=request_id, answer=run.answer, run=run, failure=failure)
