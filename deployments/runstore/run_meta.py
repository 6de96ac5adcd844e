"""The data of a request that the run store keeps besides its events, until the request is erased."""

from __future__ import annotations

from pydantic import ConfigDict

from tts.domain.outgoing_request import Outgoing
from tts.domain.value import Value
from tts.egress.records import EgressRecord


class RunMeta(Value):
    """The data of a request besides its events. What a newer release adds is passed over.

    Attributes:
        request_id: the id of the request.
        tenant: the name of the key that started it; empty without keys.
        include: what its replies contain of its run: `none`, `summary` or `full`.
        grace_s: seconds that the work goes on after its last reader has left; 0: no time, if it is `attended`.
        photos: the SHA-256 of each photo, in hexadecimal.
        claim: the idempotency key that it was sent with, made unique among tenants; empty without one.
        started_at: when it was accepted (RFC 3339); of an upload, when its ticket expires.
        attended: whether it ends without readers. If not, it goes on without them.
        options: its options as JSON.
        webhook: the URL to which its end is reported; empty without one.
        fetched: what left the machine to get its photos.
        continues: the id of the earlier request that it continues; empty if it continues none.
    """

    model_config = ConfigDict(extra="ignore")

    request_id: str
    tenant: str = ""
    include: str = "summary"
    grace_s: float = 0.0
    photos: tuple[str, ...] = ()
    claim: str = ""
    started_at: str = ""
    attended: bool = True
    options: str = ""
    webhook: str = ""
    fetched: tuple[Outgoing, ...] = ()
    continues: str = ""

    @property
    def egress_before(self) -> tuple[EgressRecord, ...]:
        """What left the machine for the request before its work began."""
        return tuple(EgressRecord(self.request_id, outgoing) for outgoing in self.fetched)
