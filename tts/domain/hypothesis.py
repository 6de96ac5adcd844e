"""See `geotts_client.hypothesis`: the client and the service share these values."""

from geotts_client.hypothesis import Claim as Claim
from geotts_client.hypothesis import Hypothesis as Hypothesis
from geotts_client.hypothesis import Level as Level
