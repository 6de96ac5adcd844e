"""The broker as it is deployed."""

import orjson
import pytest
from pydantic import ValidationError
from support.basics import a_context
from support.provider_server import answer_with_samples, config_for
from support.released_reverse import recorded_cache
from support.rude_server import rude_server

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig
from deployments.wiring.toolbox_assembly import make_tooling, refuse_file_across_nodes
from tts.config import ProviderSettings, ToolsConfig
from tts.dialects.settings import DialectSettings
from tts.domain.tooling import ToolCall
from tts.errors import ConfigError
from tts.ports.toolbox import ToolContext

TWO = DeploymentsConfig(tools=DeploymentConfig(replicas=2))


async def call(tooling, name, **arguments):
    return (
        await tooling.toolbox.call(ToolCall(id="c", name=name, arguments=arguments), ToolContext(a_context()))
    ).result


async def test_the_default_tools_work_offline_and_cache_their_results(data_store):
    tooling = make_tooling(AppArgs(), {})
    names = {schema.name for schema in tooling.toolbox.schemas()}
    assert names == {
        "poi_keyword_search",
        "poi_input_tips",
        "poi_detail",
        "geocode",
        "reverse_geocode",
        "country_at",
        "static_map",
        "satellite_map",
    }
    assert not (await call(tooling, "poi_keyword_search", query="Coimbra")).cached
    assert (await call(tooling, "poi_keyword_search", query=" coimbra ")).cached
    assert tooling.broker.snapshot().tools["poi_keyword_search"].hits == 1
    await tooling.aclose()


async def test_requests_that_left_the_machine_are_recorded(data_store, tmp_path):
    async with rude_server(answer_with_samples("serper")) as server:
        tools = config_for(server, "serper").model_copy(
            update={"outgoing_log": str(tmp_path / "out.jsonl"), "cache": f"sqlite:///{tmp_path}/c.sqlite"}
        )
        for _ in range(2):  # the second time after a restart: nothing leaves, the cache knows
            tooling = make_tooling(AppArgs(tools=tools), {"SERPER_API_KEY": "very-secret"})
            assert (await call(tooling, "web_search", query="x")).ok
            await tooling.aclose()
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    request = orjson.loads(line)
    assert (request["host"], request["method"], request["request_id"]) == ("127.0.0.1", "POST", "loc_test")
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"very-secret" not in written


def test_several_tools_replicas_with_network_providers_need_a_shared_cache():
    network = ToolsConfig(providers=("osm",))
    with pytest.raises(ValidationError, match=r"shared tools\.cache"):
        AppArgs(tools=network, deployments=TWO)
    file = network.model_copy(update={"cache": "sqlite:///tmp/c"})
    args = AppArgs(tools=file, deployments=TWO)
    refuse_file_across_nodes(args, nodes=1)
    with pytest.raises(ConfigError, match="redis"):
        refuse_file_across_nodes(args, nodes=3)
    AppArgs(deployments=TWO)  # offline results cost nothing: every replica may keep its own


def test_configured_as_released_the_tools_are_in_the_toolbox(tmp_path):
    from tts.toolkit.reverse_cache.tables import write_tables

    write_tables(recorded_cache(), tmp_path)
    settings = {"tape": ProviderSettings(path=str(tmp_path), matching="reverse")}
    tools = ToolsConfig(providers=("tape", "offline"), settings=settings)
    for path, system in ((None, "reverse"), ("rl", "reverse_rl")):
        spoken = DialectSettings(behaviour="released", released_path=path)
        args = AppArgs(tools=tools, dialect="reverse", dialect_settings=spoken)
        names = {schema.name for schema in make_tooling(args, {}).toolbox.schemas()}
        assert {f"image_search.{system}.image_search_tool", f"web_search.{system}.text_search_tool"} <= names
