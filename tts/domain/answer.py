"""See `geotts_client.answer`: the client and the service share these values."""

from geotts_client.answer import CONTINENT_KM as CONTINENT_KM
from geotts_client.answer import Answer as Answer
from geotts_client.answer import Candidate as Candidate
from geotts_client.answer import Contradiction as Contradiction
from geotts_client.answer import Evidence as Evidence
from geotts_client.answer import HintOutcome as HintOutcome
from geotts_client.answer import PhotoAnswer as PhotoAnswer
from geotts_client.answer import Provenance as Provenance
from geotts_client.answer import Radius as Radius
from geotts_client.answer import RolloutStatus as RolloutStatus
from geotts_client.answer import Route as Route
from geotts_client.answer import RunCount as RunCount
from geotts_client.answer import Share as Share
from geotts_client.answer import StopReason as StopReason
from geotts_client.answer import Timing as Timing
from geotts_client.answer import Verdict as Verdict
