"""Computes the answer of a bundle again: the recorded trajectories go to the same verifier, without network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from deployments.config import AppArgs
from deployments.wiring.parts import make_identity, make_world
from tts.assembly import NOT_COMPARED, answer_from
from tts.bundle.bundle_files import Replay, answer_of, events_in
from tts.bundle.check_bundle import replay_of
from tts.config import VerifierConfig
from tts.domain.answer import Answer, Verdict
from tts.domain.calibration import CalibrationState
from tts.domain.claim import CheckOptions
from tts.domain.earlier_request import EarlierRequest
from tts.domain.identity import Identity
from tts.domain.photo import Photo
from tts.domain.photo_cleaning import load_photo
from tts.domain.reading import Reading
from tts.domain.request import LocateOptions, RequestContext
from tts.domain.trajectory import Run, fold
from tts.errors import DataError
from tts.perception.local_perception import LocalPerception
from tts.ports.locator import UNRATED
from tts.ports.verification import VerifyRequest
from tts.routing.locatability import CuesLocator
from tts.verify.consensus.calibration import Calibration
from tts.verify.consensus.calibration_in_use import calibration_in_use, reliability_in_use
from tts.verify.consensus.reliability import Reliability
from tts.verify.verifiers.calibration_state import CalibrationStateVerifier
from tts.verify.verifiers.consensus import ConsensusVerifier
from tts.verify.verifiers.question_limit import QuestionLimitVerifier
from tts.verify.verifiers.tool_calling import InquiryVerifier, Questioner, most_questions
from tts.verify.verifiers.walk import WalkVerifier

CONSENSUS = "consensus"
_PATIENCE_S = 600.0


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """`answer` is None where the verifier cannot be replayed. `differing` names data of another version here."""

    recorded: Answer
    answer: Answer | None
    differing: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        """Whether the same answer came out, to the byte."""
        return self.answer is not None and self.answer.json_bytes() == self.recorded.json_bytes()


async def replay_bundle(entries: Mapping[str, bytes], args: AppArgs) -> ReplayResult:
    """Fold the events up to the answer, judge them, and make the answer. Raises DataError for a damaged bundle."""
    replay, log = replay_of(entries), events_in(entries)
    recorded = answer_of(log)
    differing = _differing_versions(recorded, make_identity(args))
    if replay.verifier != CONSENSUS:
        return ReplayResult(recorded, None, differing)
    run = fold(event for event in log[: next(i for i, one in enumerate(log) if one.type == "answer")])
    options = LocateOptions.model_validate(replay.options)
    photos = tuple(_load_photo(entries, one.sha256) for one in run.accepted.photos) if run.accepted is not None else ()
    verdict = await _make_verdict(replay, options, photos, run, args)
    return ReplayResult(recorded, _assemble_answer(verdict, run, recorded, replay), differing)


async def _make_verdict(
    replay: Replay, options: LocateOptions, photos: tuple[Photo, ...], run: Run, args: AppArgs
) -> Verdict:
    context = RequestContext(id="replay", remaining_s=_PATIENCE_S)
    readings: tuple[Reading, ...] = ()
    unrated = run.routed is not None and run.routed.locatability == UNRATED.locatability
    if replay.method != "fixed" and not unrated:
        readings = (await CuesLocator(LocalPerception(), None).rate(photos, context)).readings
    world = make_world(args.data_dir)
    reliability = Reliability.model_validate(replay.sources) if replay.sources else None
    calibration = Calibration.model_validate(replay.calibration)
    consensus = ConsensusVerifier(world, calibration, reliability)
    allowed = VerifierConfig(questions=replay.questions, max_questions=replay.questions)
    asking = InquiryVerifier(consensus, Questioner(None, world, allowed))
    limited = QuestionLimitVerifier(WalkVerifier(asking, world, calibration), replay.questions)
    state = CalibrationState.model_validate(replay.state)
    verifier = CalibrationStateVerifier(limited, state, replay.dialect, knows_draws=calibration.knows_draws)
    request = VerifyRequest(context, photos, options, run.trajectories, readings, inquiry=run.inquiry)
    found = [item async for item in verifier.verify(request) if isinstance(item, Verdict)]
    return found[-1]


def _assemble_answer(verdict: Verdict, run: Run, recorded: Answer, replay: Replay) -> Answer:
    """The answer around a verdict. What clock and meter said is taken from the record."""
    made = recorded.provenance
    identity = Identity(
        version=made.version, engine=made.engine, model=made.model, dialect=made.dialect, verifier=made.verifier,
        prompt_sha256_of=lambda _: made.prompt_sha256, providers=made.providers, data_versions=made.data_versions,
        notes=replay.notes,
    )  # fmt: skip
    claims = tuple(one.model_copy(update={"distance_km": None}) for one in recorded.file_claims)
    marks = {name: value for name, value in recorded.timing if value is not None}
    answer = answer_from(
        verdict,
        run,
        identity=identity,
        stop_reason=recorded.stop_reason,
        marks=marks,
        file_claims=claims,
        continued=_earlier_request(recorded),
        states_something=NOT_COMPARED in recorded.warnings,
    )
    provenance = answer.provenance.model_copy(update={"answered_at": made.answered_at})
    return answer.model_copy(update={"usage": recorded.usage, "budget": recorded.budget, "provenance": provenance})


def _earlier_request(recorded: Answer) -> EarlierRequest | None:
    """What the answer says of the earlier request."""
    change = recorded.changed
    return None if change is None else EarlierRequest(request_id=change.continues, before=change.before, why=change.why)


def _load_photo(entries: Mapping[str, bytes], sha256: str) -> Photo:
    """The clean photo as it was: loading it again would encode it again."""
    data = entries[f"photos/{sha256}.jpg"]
    loaded = load_photo(data)
    return Photo(
        data=data, sha256=sha256, source_sha256=sha256, width=loaded.width, height=loaded.height,
        media_type=loaded.media_type,
    )  # fmt: skip


def _differing_versions(recorded: Answer, here: Identity) -> tuple[str, ...]:
    then, now = recorded.provenance.data_versions, here.data_versions
    changed = [
        f"{name}: {then.get(name, 'none')} then, {now.get(name, 'none')} here"
        for name in sorted(then.keys() | now.keys())
        if then.get(name) != now.get(name)
    ]
    version = recorded.provenance.version
    return (*([f"geotts: {version} then, {here.version} here"] if version != here.version else []), *changed)


def replay_settings(args: AppArgs, identity: Identity, options: str) -> Replay:
    """What a replay of an answer of this service needs. Raises DataError for a request of an older release."""
    if not options:
        raise DataError("this request was made by a release that kept no options: it cannot be bundled")
    in_use, asked = calibration_in_use(args), orjson.loads(options)
    replayable = not asked.get("claim") and args.verifier.kind == "consensus" and args.verifier.consistency is None
    return Replay(
        verifier=CONSENSUS if replayable else f"{identity.verifier}, not replayable",
        method=args.routing_method,
        dialect=args.dialect,
        options=asked,
        calibration=in_use.calibration.jsonable(),
        state=in_use.state.jsonable(),
        notes=identity.notes,
        sources={} if (known := reliability_in_use(args)) is None else known.jsonable(),
        questions=most_questions(_parse_options(asked), args.verifier),
    )


def _parse_options(asked: dict[str, object]) -> LocateOptions:
    """The options of a request as they are stored; those of a check have a claim."""
    return (CheckOptions if asked.get("claim") else LocateOptions).model_validate(asked)
