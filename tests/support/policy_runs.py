"""Recorded runs of a scripted policy."""

from tts.domain.request import LocateOptions
from tts.domain.trajectory import Run
from tts.eval.runs.record import Record
from tts.eval.sample import Truth
from tts.eval.synthetic.atlas import Atlas
from tts.eval.synthetic.policies import policy_cases


def recorded_run(world, rho, *, rollouts=4, photos=40):
    """A run of a scripted policy with this dependence; its rollouts rest on statements of tools."""
    atlas = Atlas(world.gazetteer, world.countries)
    return [
        Record(
            dataset="made",
            sample=str(i),
            truth=Truth(point=case.truth),
            options=LocateOptions(),
            elapsed_s=1.0,
            run=Run(rollouts=dict(enumerate(case.trajectories[:rollouts]))),
        )
        for i, case in enumerate(policy_cases(atlas, rho, photos, 4, seed=3))
    ]
