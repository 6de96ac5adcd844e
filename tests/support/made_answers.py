"""An answer with everything in it, and a text that tries everything; for tests of what people are shown."""

from tts.domain.answer import Answer, Candidate, Evidence, Provenance, Radius, RunCount, StopReason, Timing
from tts.domain.exif_claims import FileClaim
from tts.domain.geo import LatLon
from tts.domain.hypothesis import Level

EVIL = "<script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>\" ' & \u202egnp.exe"


def an_answer(text: str = "Bellinzona", **update) -> Answer:
    answer = Answer(
        lat=46.19278, lon=9.01703, radius_km=Radius(p50=2.0, p90=40.0), level=Level.CITY, abstained=False,
        country="Switzerland", country_code="CH", region="Ticino", city=text, confidence=0.7, target_radius_km=25.0,
        explanation=text, warnings=(text,),
        candidates=(
            Candidate(lat=46.19, lon=9.02, radius_km=Radius(p50=2, p90=40), city=text, support=0.8, rollouts=(0, 1)),
            Candidate(lat=45.46, lon=9.19, radius_km=Radius(p50=5, p90=60), city="Milan", support=0.2, rollouts=(2,),
                      dissent=(text,)),
        ),
        evidence=(
            Evidence(id="e1", claim=text, grounded=True, rollout_id=0, call_id="c1", tool="geocode", quote=text,
                     url="https://www.geonames.org/2661567", retrieved_at="2026-01-01T00:00:00Z"),
            Evidence(id="e2", claim="no", supports=False, grounded=True, url="javascript:alert(3)"),
            Evidence(id="e3", claim="felt so"),
        ),
        n=RunCount(asked=4, planned=4, run=4, answered=3), stop_reason=StopReason.ANSWERED, timing=Timing(total_s=2.5),
        provenance=Provenance(version="9.9", engine="clues", model="clues", dialect=text, photo_sha256=("ab" * 32,)),
        file_claims=(FileClaim(point=LatLon(lat=1, lon=2), distance_km=5100.0),),
    )  # fmt: skip
    return answer.model_copy(update=update)
