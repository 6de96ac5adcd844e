"""The watch over endpoints knows each endpoint of the configuration."""

from deployments.config import load_config
from deployments.endpoints.watch import EndpointWatch
from deployments.wiring.parts import make_model
from tts.inference.openai.pool import EndpointPool
from tts.profiles import load_profile


async def test_the_command_line_takes_several_endpoints_and_readiness_knows_each():
    tree = load_profile("generic").tree(model="m", endpoint="http://127.0.0.1:9/v1, http://127.0.0.1:19/v1")
    args = load_config(None, {}, profile=tree)
    assert args.engine.addresses == ("http://127.0.0.1:9/v1", "http://127.0.0.1:19/v1")
    assert isinstance(make_model(args), EndpointPool)
    watch = EndpointWatch(args)
    states = await watch.states()
    assert set(states) == {"engine", "engine 2"}
    assert watch.none_answers()
