"""Cases in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deployments.runstore.case_record import CaseRecord


@dataclass(frozen=True, slots=True)
class _CaseEntry:
    record: CaseRecord
    until: float


class MemoryCases:
    """The part of `MemoryRunStore` that keeps cases; times are seconds of its clock."""

    _clock: Callable[[], float]

    def __init__(self) -> None:
        self._cases: dict[str, _CaseEntry] = {}
        self._kept_until: dict[str, float] = {}  # requests of cases

    async def save_case(self, record: CaseRecord, *, keep_s: float) -> bool:
        """Replace the record when its version follows, and prolong its requests."""
        self._forget_old_cases()
        earlier = self._cases.get(record.case_id)
        if record.version != (earlier.record.version if earlier else 0) + 1:
            return False
        until = self._clock() + keep_s
        self._cases[record.case_id] = _CaseEntry(record, until)
        for request_id in record.requests:
            self._kept_until[request_id] = max(until, self._kept_until.get(request_id, until))
        return True

    async def case(self, case_id: str) -> CaseRecord | None:
        """None also when its time is over."""
        self._forget_old_cases()
        kept = self._cases.get(case_id)
        return None if kept is None else kept.record

    async def cases(self, tenant: str) -> Sequence[CaseRecord]:
        """Those whose time is not over."""
        self._forget_old_cases()
        return [kept.record for kept in self._cases.values() if kept.record.tenant == tenant]

    async def erase_case(self, case_id: str) -> bool:
        """Drop the record; its requests are no longer kept for it."""
        kept = self._cases.pop(case_id, None)
        for request_id in kept.record.requests if kept else ():
            self._kept_until.pop(request_id, None)
        return kept is not None

    def _is_kept(self, request_id: str) -> bool:
        """Whether a case still needs this request."""
        return self._kept_until.get(request_id, 0.0) > self._clock()

    def _forget_old_cases(self) -> None:
        now = self._clock()
        for case_id in [case_id for case_id, kept in self._cases.items() if kept.until <= now]:
            del self._cases[case_id]
        for request_id in [request_id for request_id, until in self._kept_until.items() if until <= now]:
            del self._kept_until[request_id]
