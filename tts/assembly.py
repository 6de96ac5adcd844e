"""From a verdict to the answer: adds what the request itself knows (counts, route, usage, timing, provenance)."""

from __future__ import annotations

from datetime import UTC, datetime

from tts.domain.answer import Answer, Provenance, Route, RunCount, StopReason, Timing, Verdict
from tts.domain.exif import FileClaim
from tts.domain.geo import distance_km
from tts.domain.trajectory import Run
from tts.domain.usage import Usage
from tts.ports import Identity


def answer_from(
    verdict: Verdict,
    run: Run,
    *,
    identity: Identity,
    stop_reason: StopReason,
    marks: dict[str, float],
    file_claims: tuple[FileClaim, ...] = (),
) -> Answer:
    """`run` must hold `accepted` and `routed`; `marks` are seconds since acceptance by name of a `Timing` field."""
    assert run.accepted is not None
    usage = sum((trajectory.usage for trajectory in run.trajectories), Usage())
    answered = sum(trajectory.answer is not None for trajectory in run.trajectories)
    route = Route(locatability=run.routed.locatability, plan=run.routed.plan) if run.routed else None
    failures = [t for t in run.trajectories if t.stop_reason is StopReason.FAILED]
    warnings = [f"rollout {t.rollout_id} failed: {t.error}" for t in failures]
    return Answer(
        **verdict.model_dump(exclude={"warnings"}),
        n=RunCount(
            asked=run.accepted.n_parallel,
            planned=route.plan.n_planned if route else 0,
            run=len(run.trajectories),
            answered=answered,
        ),
        route=route,
        stop_reason=stop_reason,
        usage=usage,
        timing=Timing(**marks),
        file_claims=tuple(_compared(claim, verdict) for claim in file_claims),
        warnings=(*verdict.warnings, *warnings),
        provenance=Provenance(
            photo_sha256=tuple(photo.sha256 for photo in run.accepted.photos),
            source_sha256=tuple(photo.source_sha256 for photo in run.accepted.photos),
            version=identity.version,
            engine=identity.engine,
            model=identity.model,
            dialect=run.accepted.dialect,
            prompt_sha256=identity.prompt_sha256,
            verifier=identity.verifier,
            providers=identity.providers,
            data_versions=identity.data_versions,
            seed=run.accepted.seed,
            answered_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        ),
    )


def _compared(claim: FileClaim, verdict: Verdict) -> FileClaim:
    """The claim with its distance from the answer, when both name a point."""
    if claim.point is None or verdict.point is None:
        return claim
    return claim.model_copy(update={"distance_km": round(distance_km(claim.point, verdict.point), 3)})
