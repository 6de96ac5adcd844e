"""See `geotts_client.failure`: the client and the service share these values."""

from geotts_client.failure import FailureCause as FailureCause
from geotts_client.failure import RolloutFailure as RolloutFailure
