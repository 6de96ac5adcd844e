"""See `geotts_client.cues`: the client and the service share these values."""

from geotts_client.cues import Cues as Cues
from geotts_client.cues import ExplicitCue as ExplicitCue
from geotts_client.cues import ImplicitCue as ImplicitCue
