"""See `geotts_client.trajectory`: the client and the service share these values."""

from geotts_client.trajectory import Run as Run
from geotts_client.trajectory import Trajectory as Trajectory
from geotts_client.trajectory import Turn as Turn
from geotts_client.trajectory import fold as fold
