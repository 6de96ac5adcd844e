"""A verifier that adds the check of a claim to the verdict of another.

The answer is that of the blind rollouts alone: a check never changes it. Rollouts that test the claim
(`VerifyRequest.testing`) give evidence, and count for nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import partial

from tts.aio import Deadline, Send, closing, stream
from tts.domain.answer import Verdict
from tts.domain.claim import ClaimCheck
from tts.domain.events import ToolCalled, ToolResulted
from tts.domain.trajectory import Run, fold
from tts.ports.verification import VerifierItem, VerifyRequest
from tts.verify.claims.asked_places import PlaceInQuestion, asked_places
from tts.verify.claims.claim_calibration import ClaimCalibration
from tts.verify.claims.claim_evidence import evidence_about, evidence_of_answers
from tts.verify.claims.claim_verdict import ClaimFindings, judge_claim
from tts.verify.claims.claim_weighing import Weighing, belief_about, weigh_claim
from tts.verify.claims.claimed_area import centre_of
from tts.verify.claims.places_in_question import places_in_question
from tts.verify.consensus.calibration import Calibration
from tts.verify.consensus.reliability import Reliability
from tts.verify.evidence.reading_belief import read_belief
from tts.verify.evidence.world import World
from tts.verify.inquiry.comparison import Comparison
from tts.verify.inquiry.tool_statements import ToolStatements
from tts.verify.verifiers.consensus import judge, trust_in
from tts.verify.verifiers.tool_calling import Questioner
from tts.verify.verifiers.verifier_wrapper import VerifierWrapper


@dataclass(frozen=True, eq=False)
class ClaimVerifier(VerifierWrapper):
    """The `Verifier` port around another. `claims` is what a fitted engine's masses are calibrated with."""

    world: World
    calibration: Calibration
    claims: ClaimCalibration
    questioner: Questioner | None = None
    reliability: Reliability | None = None

    def verify(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        """What the other yields; where a place is claimed, its verdict has the check. The check knows what the other
        asked tools itself. Once rollouts have tested the claim, it asks what distinguishes the places in question."""
        return stream(partial(self._add_check, request)) if request.claimed else self.verifier.verify(request)

    async def _add_check(self, request: VerifyRequest, send: Send[VerifierItem]) -> None:
        inquiry_run, deadline = Run(inquiry=request.inquiry), Deadline(request.context.remaining_s)
        async with closing(self.verifier.verify(request)) as items:
            async for item in items:
                if isinstance(item, ToolCalled | ToolResulted):
                    inquiry_run = fold([item], inquiry_run)
                if not isinstance(item, Verdict):
                    await send(item)
                    continue
                context = request.context.model_copy(update={"remaining_s": max(0.0, deadline.remaining_s())})
                complete_request = replace(request, inquiry=inquiry_run.inquiry, context=context)
                weighing = await asyncio.to_thread(self.weigh, complete_request)
                comparison = await self._compare_places(complete_request, item, weighing, send)
                check = await asyncio.to_thread(self.check, complete_request, item, weighing, comparison)
                await send(item.model_copy(update={"check": check}))

    async def _compare_places(
        self, request: VerifyRequest, verdict: Verdict, weighing: Weighing, send: Send[VerifierItem]
    ) -> Comparison[PlaceInQuestion] | None:
        """The questions of the places in question; None before rollouts have tested the claim."""
        if self.questioner is None or not request.testing:
            return None
        stated = ToolStatements.from_trajectories(request.trajectories, request.readings)
        places = asked_places(
            places_in_question(request.claimed, verdict), weighing.rival, verdict.point, stated, self.world
        )
        return await self.questioner.compare_places(request, places, stated, send)

    def weigh(self, request: VerifyRequest) -> Weighing:
        """The mass of what is claimed, by the blind rollouts and the lettering alone; the claim enters neither."""
        world = self.world
        assert world.clues is not None
        trust = trust_in(request.trajectories, self.reliability)
        photos = max(1, len(request.photos))
        judgement = judge(request.trajectories, request.readings, world, photos=photos, trust=trust)
        if self.questioner is not None:
            judgement = self.questioner.apply_recorded_calls(request, judgement)
        read = read_belief(request.trajectories, request.readings, world.clues)
        belief = belief_about(judgement.clusters, judgement.spread, read, self.calibration)
        return weigh_claim(request.claimed, belief, world)

    def check(
        self,
        request: VerifyRequest,
        verdict: Verdict,
        weighing: Weighing | None = None,
        compared: Comparison[PlaceInQuestion] | None = None,
    ) -> ClaimCheck:
        """The check of what is claimed, beside the verdict of the blind rollouts. About 50 ms. `compared` is what the
        verifier asked of the places in question: it adds evidence and nothing else."""
        world, weighing = self.world, weighing or self.weigh(request)
        best = max(weighing.places, key=lambda one: one.mass)
        claimed_point = best.best or centre_of(best.place)
        evidence_for, evidence_against = (
            ((), ())
            if claimed_point is None
            else evidence_about(
                (*request.trajectories, *request.testing),
                request.readings,
                world,
                place=best.place,
                claimed=claimed_point,
                rival=weighing.rival,
                words=" ".join(f"{one.claim} {one.place}" for one in request.claimed),
            )
        )
        if compared is not None:
            answers_for, answers_against = evidence_of_answers(compared, best.place)
            evidence_for, evidence_against = (*evidence_for, *answers_for), (*evidence_against, *answers_against)
        fitted = verdict.calibration is not None and verdict.calibration.state == "fitted"
        findings = ClaimFindings(
            verdict, weighing, evidence_for, evidence_against, request.trajectories, request.testing
        )
        return judge_claim(findings, self.claims if fitted else None, world)
