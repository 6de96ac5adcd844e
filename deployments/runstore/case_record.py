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
        """Keep a case, and its requests at least as long.

        Args:
            record: replaces what is stored under its `case_id`. Its `version` must be one above the stored one, and 1
                for a new case. Requests that are unknown or erased are passed over.
            keep_s: seconds from now; each saving begins them anew.

        Returns:
            False, and nothing changes, if the version does not follow: somebody else saved the case meanwhile.
        """
        ...

    async def case(self, case_id: str) -> CaseRecord | None:
        """Return a case as it was saved last.

        Args:
            case_id: the id, whoever owns the case; the caller compares its `tenant`.

        Returns:
            None when it is unknown, erased or past its time.
        """
        ...

    async def cases(self, tenant: str) -> Sequence[CaseRecord]:
        """List the cases of a tenant.

        Args:
            tenant: the name of an API key, as in `CaseRecord.tenant`; empty for requests without a key.

        Returns:
            All of them, in no order; empty when there are none.
        """
        ...

    async def erase_case(self, case_id: str) -> bool:
        """Remove a case, not its requests.

        Args:
            case_id: the id, whoever owns the case. Its requests are not erased.

        Returns:
            False when there was none.
        """
        ...
