"""The ports of one process: a solver over them keeps the whole run."""

import pytest
from support.basics import sign_bytes

from deployments.config import AppArgs
from deployments.wiring.local import local_ports
from tts.config import RoutingConfig, ScriptedEngine
from tts.domain.request import LocateOptions
from tts.eval.runs.solvers import LocalSolver

OPTIONS = LocateOptions(n_parallel=2, seed=3)


async def test_the_local_solver_keeps_the_whole_run(data_store, sign_photo):
    args = AppArgs(engine=ScriptedEngine(turns=2), routing=RoutingConfig(method="fixed"))
    run = await LocalSolver(local_ports(args), deadline_s=20.0)("s_1", sign_photo.data, OPTIONS)
    assert run.answer is not None
    assert [len(t.turns) for t in run.trajectories] == [2, 2]


@pytest.mark.parametrize(
    ("tools", "rests_on"), [(None, "results of tools"), ((), "the text in the photo")], ids=["tools", "none"]
)
async def test_the_explanation_says_what_the_point_rests_on(data_store, tools, rests_on):
    solve = LocalSolver(local_ports(AppArgs()), deadline_s=60.0)
    run = await solve("s_1", sign_bytes("Coimbra", "Baixa"), LocateOptions(n_parallel=2, seed=1, tools=tools))
    assert f"The point rests on {rests_on}." in run.answer.explanation
    assert any(evidence.tool for evidence in run.answer.evidence) is (tools is None)
