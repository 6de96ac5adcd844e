"""See `geotts_client.events`: the client and the service share these values."""

from geotts_client.events import EVENT as EVENT
from geotts_client.events import SCHEMA_VERSION as SCHEMA_VERSION
from geotts_client.events import Accepted as Accepted
from geotts_client.events import Answered as Answered
from geotts_client.events import ClusterInfo as ClusterInfo
from geotts_client.events import Consensus as Consensus
from geotts_client.events import Done as Done
from geotts_client.events import Escalated as Escalated
from geotts_client.events import Event as Event
from geotts_client.events import Failed as Failed
from geotts_client.events import Hypothesised as Hypothesised
from geotts_client.events import LeftMachine as LeftMachine
from geotts_client.events import PhotoInfo as PhotoInfo
from geotts_client.events import RolloutFinished as RolloutFinished
from geotts_client.events import RolloutId as RolloutId
from geotts_client.events import RolloutResumed as RolloutResumed
from geotts_client.events import RolloutStarted as RolloutStarted
from geotts_client.events import Routed as Routed
from geotts_client.events import Sequencer as Sequencer
from geotts_client.events import Text as Text
from geotts_client.events import ToolCalled as ToolCalled
from geotts_client.events import ToolResulted as ToolResulted
from geotts_client.events import TurnFinished as TurnFinished
from geotts_client.events import VerifierText as VerifierText
from geotts_client.events import parse_event as parse_event
