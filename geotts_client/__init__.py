"""Client of GeoTTS: where was this photo taken? Asks a running service; needs httpx and pydantic only.

from geotts_client import SyncClient

with SyncClient("http://127.0.0.1:8000") as client:
    run = client.locate(Path("photo.jpg").read_bytes())
    print(run.answer.place, run.answer.point)
"""

from geotts_client.answer import Answer, Contradiction, HintOutcome, PhotoAnswer, StopReason
from geotts_client.area import Area, BBox, Circle, Countries
from geotts_client.budget import Budget, BudgetUse
from geotts_client.change import Change
from geotts_client.check_options import CheckOptions
from geotts_client.claim_check import CheckedPlace, ClaimCheck
from geotts_client.client import Client
from geotts_client.continue_options import ContinueOptions
from geotts_client.errors import (
    ConfigError,
    DeadlineExceeded,
    GeoTTSError,
    NotFound,
    Overloaded,
    RequestError,
    RolloutsFailed,
    ServerUnreachable,
    UpstreamRefused,
)
from geotts_client.events import Event
from geotts_client.failure import FailureCause, RolloutFailure
from geotts_client.latlon import LatLon
from geotts_client.options import LocateOptions
from geotts_client.plan import Depth
from geotts_client.region import Region
from geotts_client.replies import Cancelled, Problem, RunStatus
from geotts_client.sync_client import SyncClient
from geotts_client.trajectory import Run, Trajectory, fold

__all__ = [
    "Answer",
    "Area",
    "BBox",
    "Budget",
    "BudgetUse",
    "Cancelled",
    "Change",
    "CheckOptions",
    "CheckedPlace",
    "Circle",
    "ClaimCheck",
    "Client",
    "ConfigError",
    "ContinueOptions",
    "Contradiction",
    "Countries",
    "DeadlineExceeded",
    "Depth",
    "Event",
    "FailureCause",
    "GeoTTSError",
    "HintOutcome",
    "LatLon",
    "LocateOptions",
    "NotFound",
    "Overloaded",
    "PhotoAnswer",
    "Problem",
    "Region",
    "RequestError",
    "RolloutFailure",
    "RolloutsFailed",
    "Run",
    "RunStatus",
    "ServerUnreachable",
    "StopReason",
    "SyncClient",
    "Trajectory",
    "UpstreamRefused",
    "fold",
]
