"""See `geotts_client.claim_check` and `.claimed_place`: the client and the service share these values."""

from geotts_client.check_options import CheckOptions
from geotts_client.claim_check import CheckedPlace, ClaimCheck, ClaimVerdict, RolloutAgreement, Undecided
from geotts_client.claimed_place import ClaimedPlace

__all__ = [
    "CheckOptions",
    "CheckedPlace",
    "ClaimCheck",
    "ClaimVerdict",
    "ClaimedPlace",
    "RolloutAgreement",
    "Undecided",
]
