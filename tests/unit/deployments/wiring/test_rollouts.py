"""Rollouts of this process: each gets the similar photos of the gallery."""

import json

import pytest
from support.basics import a_context
from support.dialect_rollouts import toolbox
from support.endpoint import serving, text_chunks
from support.made_gallery import ANSWER, photo, write_gallery

from deployments.config import load_config
from deployments.wiring.rollouts import LocalRollouts
from tts.domain.events import RolloutFinished
from tts.domain.plan import Limits
from tts.inference.openai.engine import OpenAIModel
from tts.ports.rollout_groups import GroupRequest, RolloutTask


@pytest.fixture
def config(tmp_path):
    return write_gallery(tmp_path)


@pytest.mark.parametrize(("dialect", "shown"), [("geo_adapt", True), ("generic", False)])
async def test_every_rollout_gets_the_same_candidates(config, dialect, shown):
    """From the configuration to what the endpoint is sent."""
    async with serving(lambda body, number: text_chunks(ANSWER)) as endpoint:
        engine = {"name": "openai", "base_url": endpoint.url, "model": "m", "server": "sglang"}
        tree = {"engine": engine, "dialect": dialect, "gallery": config.model_dump(mode="json")}
        args = load_config(None, tree)
        model = OpenAIModel(args.engine)
        group = GroupRequest(
            context=a_context(30.0),
            photos=(photo((35, 150, 45)),),
            tasks=(RolloutTask(rollout_id=0, seed=1), RolloutTask(rollout_id=1, seed=2)),
            n_total=2,
            limits=Limits(),
        )
        items = [item async for batch in LocalRollouts(model, toolbox(), args).run(group) for item in batch]
        await model.aclose()
    ends = [item for item in items if isinstance(item, RolloutFinished)]
    assert len(ends) == 2
    for body in endpoint.bodies[:2]:
        assert ("1. 47.50000, 19.00000 (similarity" in json.dumps(body["messages"])) is shown
