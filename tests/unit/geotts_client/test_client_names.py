"""What `from geotts_client import …` gives: the names a caller needs to write down what an answer holds."""

from support.made_answers import an_answer

import geotts_client
from geotts_client import Answer, Contradiction, HintOutcome, PhotoAnswer

PUBLIC = {
    "Answer", "Area", "BBox", "Budget", "BudgetUse", "Cancelled", "Change", "CheckOptions", "CheckedPlace",
    "Circle", "ClaimCheck", "Client", "ConfigError", "ContinueOptions", "Contradiction", "Countries",
    "DeadlineExceeded", "Depth", "Event", "FailureCause", "GeoTTSError", "HintOutcome", "LatLon", "LocateOptions",
    "NotFound", "Overloaded", "PhotoAnswer", "Problem", "Region", "RequestError", "RolloutFailure", "RolloutsFailed",
    "Run", "RunStatus", "ServerUnreachable", "StopReason", "SyncClient", "Trajectory", "UpstreamRefused", "fold",
}  # fmt: skip


def test_the_package_exports_exactly_the_public_names():
    assert set(geotts_client.__all__) == PUBLIC
    assert all(getattr(geotts_client, name) is not None for name in PUBLIC)


def test_hint_photos_and_contradictions_of_an_answer_have_public_types():
    fields = an_answer().model_dump(mode="json") | {
        "hint": {"outcome": "contradicted", "place": "Otaru", "text": "The hint names Otaru."},
        "contradictions": [{"about": "hint", "text": "The photo shows Hamburg."}],
        "per_photo": [
            {"photo": 1, "lat": 53.5, "lon": 10.0, "radius_km": {"p50": 1, "p90": 5}, "level": "city",
             "abstained": False, "confidence": 0.5}
        ],
    }  # fmt: skip
    answer = Answer.model_validate_json(Answer.model_validate(fields).model_dump_json())
    assert isinstance(answer.hint, HintOutcome)
    assert [type(found) for found in answer.contradictions] == [Contradiction]
    assert [type(found) for found in answer.per_photo] == [PhotoAnswer]
