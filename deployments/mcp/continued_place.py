"""What `continue_photo` returns: the new answer as `locate_photo` has it, and what it changes of the earlier one."""

from __future__ import annotations

from pydantic import Field

from deployments.mcp.checked_claim import CheckedClaim, checked_claim
from deployments.mcp.located_place import LocatedPlace, located_place, text_of_place
from tts.domain.answer import Answer
from tts.domain.earlier_request import Change


class ContinuedPlace(LocatedPlace):
    """`request_id` is that of the new request. The earlier one stays as it was."""

    changed: Change | None = Field(description="what the added facts changed of the earlier answer, and why")
    check: CheckedClaim | None = Field(description="the verdict on the claim, where the earlier request was a check")

    def text(self) -> str:
        """What changed, the verdict on a claim, and the place."""
        parts = ("" if self.changed is None else self.changed.text, "" if self.check is None else self.check.text)
        return "\n".join(part for part in (*parts, text_of_place(self)) if part)


def continued_place(request_id: str, answer: Answer) -> ContinuedPlace:
    """The fields that the answer of a continued request fills."""
    return ContinuedPlace(
        **dict(located_place(request_id, answer)),
        changed=answer.changed,
        check=None if answer.check is None else checked_claim(request_id, answer, answer.check),
    )
