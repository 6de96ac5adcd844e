"""`geotts bench check`: claims about drawn scenes, told true from false, and what a false claim moves."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import click
import numpy as np
import yaml
from PIL import Image

from deployments.cli.console import config_option
from deployments.config import AppArgs
from deployments.wiring.local import local_ports
from deployments.wiring.parts import clue_reader, make_world
from geotts_benchmarks.claims.attacked_claims import attacked_claims
from geotts_benchmarks.claims.claim_fitting import WeighedCase, fit_claims, probabilities
from geotts_benchmarks.claims.continue_cost import continued_figures
from geotts_benchmarks.claims.scene_claims import CLAIM_FAMILIES, ClaimCase, claims_about
from geotts_benchmarks.harness import Result, print_progress, report, round_figure
from tts.aio import closing
from tts.clues.claimed_places import claimed_place
from tts.domain.answer import Verdict
from tts.domain.claim import CheckOptions, ClaimCheck, ClaimedPlace
from tts.domain.photo import Photo
from tts.domain.photo_cleaning import load_photo
from tts.domain.plan import Depth
from tts.domain.request import LocateOptions, LocateRequest
from tts.domain.trajectory import Run, fold
from tts.eval.calibration_fitting import verdict_columns, with_regions
from tts.eval.labelled_cases import LabelledCase, kind_of_cases
from tts.eval.metrics.calibration_error import auroc, expected_calibration_error
from tts.eval.metrics.regions import KnownArea, region_figures
from tts.eval.scenes.generate import SceneMaker
from tts.eval.scenes.words import SPLITS, Split
from tts.eval.synthetic.families import FAMILIES, generate
from tts.pipeline import solve
from tts.ports.request_ports import Ports
from tts.ports.toolbox import Attachment
from tts.ports.verification import Verifier, VerifierItem, VerifyRequest
from tts.verify.claims.claim_calibration import ClaimCalibration, shipped_claim_calibration
from tts.verify.claims.claim_weighing import Weighing
from tts.verify.consensus.calibration import Calibration, shipped_calibration
from tts.verify.evidence.world import World
from tts.verify.verifiers.claim import ClaimVerifier
from tts.verify.verifiers.consensus import ConsensusVerifier

_DEADLINE_S = 120.0
_CONTINUED_SCENES = 40  # scenes that are located, continued, and located afresh
_SUPPORTED = "supported"


@dataclass(frozen=True, slots=True)
class WeighedClaim:
    """A claim as a check weighed it, its verdict, and by how many points asking with it moved the place's mass."""

    weighed: WeighedCase
    verdict: str
    gain_points: float | None = None


@dataclass(frozen=True, slots=True)
class SceneResults:
    """All that came of the scenes: checked claims, what verifiers were asked, and the areas of the answers."""

    checked: list[WeighedClaim]
    cases: list[LabelledCase]
    areas: list[KnownArea]


class Recorder:
    """Keeps what a verifier was asked last."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self.asked: VerifyRequest | None = None

    async def verify(self, request: VerifyRequest) -> AsyncIterator[VerifierItem]:
        """What the verifier yields."""
        self.asked = request
        async with closing(self._verifier.verify(request)) as items:
            async for item in items:
                yield item


@click.command()
@click.option("--scenes", "count", type=click.IntRange(min=1), default=300, show_default=True)
@click.option("--n", type=click.IntRange(1, 16), default=4, show_default=True, help="Rollouts for each scene.")
@click.option("--split", type=click.Choice([*SPLITS]), default="held_out", show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--suggestions",
    type=click.IntRange(min=0),
    default=150,
    show_default=True,
    help="False claims that a request gets, to measure how far they move its answer.",
)
@click.option(
    "--write",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Fit the calibration of claims, and write it to this file.",
)
@click.option(
    "--write-regions",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Fit the regions of answers, and write the calibration of the engine with them to this file.",
)
@click.option(
    "--attacks", type=click.IntRange(min=1), default=50, show_default=True, help="Scenarios of each family of attacks."
)
@click.option("--quick", is_flag=True, help="Use 12 scenes, and 5 scenarios of each family.")
@config_option
def command(
    args: AppArgs,
    count: int,
    n: int,
    split: str,
    seed: int,
    suggestions: int,
    write: Path | None,
    write_regions: Path | None,
    attacks: int,
    quick: bool,
) -> None:
    """True and false claims about drawn scenes: AUC and calibration of the probabilities of the claims. Percentages.

    `regions` is for the regions of the answers: the share of true places in them, and their area compared with circles.
    """
    maker = SceneMaker(seed=seed, split=cast(Split, split))
    report(
        "check",
        lambda: asyncio.run(
            measure(
                args, maker, 12 if quick else count, n, suggestions, (write, write_regions), 5 if quick else attacks
            )
        ),
    )


async def measure(
    args: AppArgs,
    maker: SceneMaker,
    count: int,
    n: int,
    suggestions: int,
    files: tuple[Path | None, Path | None],
    attacks: int,
) -> Result:
    """The figures over all claims about `count` scenes. `files`: where to write claims and regions that are fitted."""
    write, write_regions = files
    seen = await _check_scenes(args, maker, count, n, suggestions=suggestions if files == (None, None) else 0)
    checked = seen.checked
    if write_regions is not None:
        origin = f"{count} scenes ({maker.split}, seed {maker.seed}), {n} rollouts"
        await asyncio.to_thread(_write_regions, write_regions, args, seen.cases, origin)
    calibration = shipped_claim_calibration(args.engine.name)
    if write is not None:
        origin = f"{len(checked)} claims about {count} scenes ({maker.split}, seed {maker.seed}), {n} rollouts"
        how = f"geotts bench check --split {maker.split} --seed {maker.seed} --scenes {count} --write"
        found = fit_claims([row.weighed for row in checked], origin)
        calibration = found.model_copy(update={"command": how, "fitted_on": datetime.now(UTC).date()})
        await asyncio.to_thread(_write_calibration, write, calibration)
    return {
        "kind_of_n": kind_of_cases(seen.cases),
        **figures(checked, calibration),
        "regions": region_figures(seen.areas).model_dump() if seen.areas else None,
        "continued": await continued_figures(args, maker, min(count, _CONTINUED_SCENES), n),
        "adversarial": await asyncio.to_thread(_check_attacks, args, attacks),
    }


def _check_attacks(args: AppArgs, count: int) -> Result:
    """Every adversarial family with a claim of the place that the attack stands for."""
    world, calibration = make_world(args.data_dir), shipped_calibration(args.engine.name)
    checks = _Checks(world, calibration, shipped_claim_calibration(args.engine.name))
    picture = io.BytesIO()
    Image.new("RGB", (32, 32)).save(picture, "JPEG")
    photo, found = load_photo(picture.getvalue()), {}
    for family in FAMILIES:
        scenarios = generate(family, count, 0, world.gazetteer, world.countries)
        found[family] = attacked_claims(scenarios, checks, photo).model_dump()
        print_progress(f"{family}: {found[family]}")
    return found


class _Checks:
    """The consensus, and the check beside it, without an engine."""

    def __init__(self, world: World, calibration: Calibration, claims: ClaimCalibration) -> None:
        self._consensus = ConsensusVerifier(world, calibration)
        self._verifier = ClaimVerifier(self._consensus, world, calibration, claims)

    def decide(self, request: VerifyRequest) -> Verdict:
        """The verdict of the blind rollouts."""
        return self._consensus.decide(request)

    def check(self, request: VerifyRequest, verdict: Verdict) -> ClaimCheck:
        """The check of what is claimed."""
        return self._verifier.check(request, verdict)


def _write_calibration(path: Path, calibration: ClaimCalibration) -> None:
    path.write_text(yaml.safe_dump(calibration.model_dump(), sort_keys=False, width=118))


def _write_regions(path: Path, args: AppArgs, cases: Sequence[LabelledCase], origin: str) -> None:
    made = with_regions(
        shipped_calibration(args.engine.name), verdict_columns(cases, make_world(args.data_dir)), origin=origin
    )
    made.write(path)
    print_progress(f"{path}: {made.regions}")


def figures(checked: Sequence[WeighedClaim], calibration: ClaimCalibration) -> Result:
    """`auc` and `ece` are of claims that the signs decide; of the others it is known how many are `supported`."""
    weighed = [row.weighed for row in checked]
    p = probabilities(weighed, calibration)
    true = np.array([case.case.true for case in weighed], dtype=bool)
    sure = np.array([case.case.family != "undecidable" for case in weighed])
    gains = np.array([row.gain_points for row in checked if row.gain_points is not None])
    supported = np.array([row.verdict == _SUPPORTED for row in checked])
    by_family = {
        family: _family_figures([row for row in checked if row.weighed.case.family == family])
        for family in CLAIM_FAMILIES
    }
    return {
        "claims": len(checked),
        "auc": round_figure(auroc(p[sure], true[sure])),
        "ece": round_figure(expected_calibration_error(p[sure], true[sure])),
        "ece_all": round_figure(expected_calibration_error(p, true)),
        "undecidable_supported": round(100.0 * float(supported[~sure].mean()), 2) if (~sure).any() else None,
        "suggestion_gain": round(float(gains.mean()), 3) if len(gains) else None,
        "suggestion_gain_99": round(float(np.quantile(gains, 0.99)), 3) if len(gains) else None,
        "by_family": by_family,
    }


def _family_figures(rows: Sequence[WeighedClaim]) -> Result:
    shares = {v: sum(row.verdict == v for row in rows) for v in (_SUPPORTED, "contradicted", "not_decidable")}
    return {"n": len(rows), **{v: round(100.0 * count / len(rows), 1) for v, count in shares.items() if rows}}


async def _check_scenes(args: AppArgs, maker: SceneMaker, count: int, n: int, *, suggestions: int) -> SceneResults:
    ports = local_ports(args)
    verifier = ports.verifier
    assert isinstance(verifier, ClaimVerifier)
    recorder = Recorder(verifier)
    ports = replace(ports, verifier=recorder)
    world, seen = make_world(args.data_dir), SceneResults([], [], [])
    for number in range(count):
        scene = maker.plan(number)
        cases = claims_about(scene, world.gazetteer, world.countries)
        places = [(case, place) for case in cases if (place := _claimed_place(case, args)) is not None]
        photo = load_photo(maker.photo(scene))
        options = LocateOptions(n_parallel=n, depth=Depth.DEEP, stop="none", seed=1)
        run = await _run_of(ports, LocateRequest(f"loc_{number}", (photo,), options))
        if run.answer is None or recorder.asked is None:
            continue
        asked, verdict, truth = recorder.asked, run.answer, scene.town.point
        seen.cases.append(LabelledCase(str(number), truth, tuple(asked.trajectories), tuple(asked.readings)))
        if verdict.point is not None and verdict.radius_km is not None:
            regions = (verdict.region_50, verdict.region_90)
            seen.areas.append(KnownArea(verdict.point, verdict.radius_km, *regions, truth))
        false = next((pair for pair in places if suggestions and not pair[0].true), None)
        for case, place in places:
            row = _claim_row(verifier, asked, verdict, number, case, place)
            if false is not None and case is false[0]:
                suggestions -= 1
                row = replace(
                    row, gain_points=await _measure_gain(ports, recorder, verifier, row, photo, options, case, place)
                )
            seen.checked.append(row)
        if number % 10 == 9:
            print_progress(f"{number + 1} scenes, {len(seen.checked)} claims")
    return seen


def _claimed_place(case: ClaimCase, args: AppArgs) -> ClaimedPlace | None:
    try:
        return claimed_place(case.words, clue_reader(args.data_dir))
    except ValueError:
        return None


def _claim_row(
    verifier: ClaimVerifier,
    asked: VerifyRequest,
    verdict: Verdict,
    number: int,
    case: ClaimCase,
    place: ClaimedPlace,
) -> WeighedClaim:
    request = replace(asked, claimed=(place,))
    weighing = verifier.weigh(request)
    return WeighedClaim(_weighed_case(weighing, number, case), verifier.check(request, verdict).verdict)


def _weighed_case(weighing: Weighing, number: int, case: ClaimCase) -> WeighedCase:
    one = weighing.places[0]
    return WeighedCase(number, case, one.mass, one.bayes_factor)


async def _measure_gain(
    ports: Ports,
    recorder: Recorder,
    verifier: ClaimVerifier,
    without: WeighedClaim,
    photo: Photo,
    options: LocateOptions,
    case: ClaimCase,
    place: ClaimedPlace,
) -> float:
    """Points by which the mass of a false place grows when the same photo is asked with the claim."""
    checking = CheckOptions(**{name: getattr(options, name) for name in options.model_fields_set}, claim=(case.words,))
    await _run_of(ports, LocateRequest(f"loc_{without.weighed.scene}_c", (photo,), checking, claimed=(place,)))
    assert recorder.asked is not None
    return 100.0 * (verifier.weigh(recorder.asked).places[0].mass - without.weighed.mass)


async def _run_of(ports: Ports, request: LocateRequest) -> Run:
    async with closing(solve(request, ports, deadline_s=_DEADLINE_S)) as items:
        return fold([item async for item in items if not isinstance(item, Attachment)])
