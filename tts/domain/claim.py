"""See `geotts_client.claim_check` and `.claimed_place`: the client and the service share these values."""

from geotts_client.check_options import CheckOptions as CheckOptions
from geotts_client.claim_check import CheckedPlace as CheckedPlace
from geotts_client.claim_check import ClaimCheck as ClaimCheck
from geotts_client.claim_check import ClaimVerdict as ClaimVerdict
from geotts_client.claim_check import RolloutAgreement as RolloutAgreement
from geotts_client.claim_check import Undecided as Undecided
from geotts_client.claimed_place import ClaimedPlace as ClaimedPlace
