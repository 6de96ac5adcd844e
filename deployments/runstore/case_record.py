"""A case as a store keeps it: whose it is, which requests it keeps alive, and a text that only the gateway reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pydantic import ConfigDict

from tts.domain.value import Value


class CaseRecord(Value):
    """`version` counts from 1; `requests` are kept as long as the case. What a newer release adds is passed over."""

    model_config = ConfigDict(extra="ignore")

    case_id: str
    tenant: str = ""
    version: int
    requests: tuple[str, ...] = ()
    body: str


class CaseStore(Protocol):
    """The part of a run store that keeps cases. Every method may raise StoreUnavailable."""

    async def save_case(self, record: CaseRecord, *, keep_s: float) -> bool:
        """Keep a case, and its requests at least, for `keep_s` from now. False, and nothing changes, unless `version`
        is one above the stored one (1 for a new case).
        """
        ...

    async def case(self, case_id: str) -> CaseRecord | None:
        """None when it is unknown, erased or past its time."""
        ...

    async def cases(self, tenant: str) -> Sequence[CaseRecord]:
        """All cases of a tenant, in no order."""
        ...

    async def erase_case(self, case_id: str) -> bool:
        """Remove a case, not its requests. False when there was none."""
        ...
