"""A released dialect answers once. Who asks for answer draws is told so."""

import pytest

from deployments.cli import serve
from deployments.config import AppArgs
from deployments.wiring.parts import make_identity, make_router
from tts.domain.plan import Depth, Locatability
from tts.domain.request import LocateOptions
from tts.ports.locator import Routing
from tts.routing.reasons import NO_DRAWS

ROUTING = Routing(Locatability(score=0.5, method="cues"))
RELEASED = {"dialect": "geovista", "dialect_settings": {"behaviour": "released"}}


def args_with_draws(draws, **dialect):
    return AppArgs.model_validate({"engine": {"name": "scripted"}, "limits": {"answer_draws": draws}, **dialect})


@pytest.mark.parametrize(("dialect", "draws", "told"), [
    (RELEASED, 3, True), (RELEASED, 1, False), (RELEASED, None, False), ({"dialect": "geovista"}, 3, False),
    ({}, 3, False),
])  # fmt: skip
def test_the_plan_and_the_answer_say_that_no_answer_is_drawn_again(dialect, draws, told, data_store, monkeypatch):
    args = args_with_draws(draws, **dialect)
    plan = make_router(args).plan(LocateOptions(depth=Depth.DEEP, n_parallel=2), ROUTING)
    assert plan.summary.endswith(f"; {NO_DRAWS}") is told
    assert (NO_DRAWS in make_identity(args).notes) is told
    warned: list[str] = []
    monkeypatch.setattr(serve, "warn", warned.append)
    serve._warn_of_tools(args)
    assert (NO_DRAWS in warned) is told


def test_a_mixture_with_one_released_dialect_notes_that_no_answer_is_drawn_again(data_store):
    engines = [{"name": "a", "engine": {"name": "scripted"}, "dialect": "generic"},
               {"name": "b", "engine": {"name": "scripted"}}]  # fmt: skip
    args = AppArgs.model_validate({"engines": engines, "limits": {"answer_draws": 2}, **RELEASED})
    assert NO_DRAWS in make_identity(args).notes
    assert "dialect_settings.behaviour" in NO_DRAWS
