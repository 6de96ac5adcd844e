from pathlib import Path

import pytest
import yaml

from deployments.config import AppArgs, load_config
from tts.errors import ConfigError

CONFIGS = sorted((Path(__file__).parents[4] / "ray_configs").glob("*.yaml"))


def test_the_default_configuration_uses_the_embedded_engine_on_loopback():
    args = AppArgs()
    assert args.engine.name == "clues"
    assert args.gateway.host == "127.0.0.1"
    assert args.telemetry.traces == "off"


def test_a_printed_configuration_can_be_read_back(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(AppArgs(group_size=3).model_dump(mode="json")))
    assert load_config(path) == AppArgs(group_size=3)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_shipped_configurations_are_valid(path):
    assert isinstance(load_config(path), AppArgs)


def test_overrides_change_nested_keys_and_keep_the_others():
    args = load_config(None, {"gateway": {"port": 9001}, "deployments": {"rollout": {"replicas": 5}}})
    assert (args.gateway.port, args.gateway.host, args.deployments.rollout.replicas) == (9001, "127.0.0.1", 5)


VLLM = {"name": "vllm", "model": "m"}


@pytest.mark.parametrize(
    "parts",
    [
        {"engine": VLLM, "observer": VLLM},
        {"engine": VLLM, "verifier": {"kind": "model", "engine": VLLM, "consistency": {"engine": VLLM}}},
    ],
)
def test_two_engines_on_the_gpus_of_one_replica_say_how_they_share_the_memory(parts):
    with pytest.raises(ConfigError, match=r"the sum of their gpu_memory is 1\.8"):
        load_config(None, parts)
    halves = yaml.safe_load(str(parts).replace("'model': 'm'", "'model': 'm', 'gpu_memory': 0.45"))
    assert load_config(None, halves).engine.name == "vllm"


def test_an_engine_on_a_fraction_of_a_gpu_takes_no_more_than_that_of_its_memory():
    half = {"engine": VLLM, "deployments": {"rollout": {"num_gpus": 0.5}}}
    with pytest.raises(ConfigError, match=r"with 0\.5 of a GPU .* gpu_memory of engine is 0\.9, the limit is 0\.5"):
        load_config(None, half)
    assert load_config(None, half | {"engine": VLLM | {"gpu_memory": 0.45}}).deployments.rollout.claimed_gpus == 0.5


@pytest.mark.parametrize(
    "parts",
    [
        {"verifier": {"engine": VLLM, "consistency": {"engine": VLLM}}},
        {"verifier": {"engine": VLLM}, "deployments": {"verifier": {"num_gpus": 0.5}}},
    ],
    ids=["beside a second reader", "on half a GPU"],
)
def test_an_engine_that_the_consensus_does_not_load_takes_no_memory(parts):
    assert load_config(None, parts).verifier.kind == "consensus"
    with pytest.raises(ConfigError, match="gpu_memory"):
        load_config(None, parts | {"verifier": parts["verifier"] | {"kind": "model"}})


ENDPOINT = {"name": "openai", "base_url": "http://127.0.0.1:9000/v1"}


@pytest.mark.parametrize(
    ("settings", "colocated"),
    [
        ({"engine": ENDPOINT}, True),
        ({"engine": ENDPOINT, "colocate": False}, False),
        ({"engine": ENDPOINT, "deployments": {"rollout": {"replicas": 4}}}, False),
        ({"engine": ENDPOINT, "verifier": {"kind": "model", "engine": {"name": "clues"}}}, False),
        ({"engine": ENDPOINT, "verifier": {"engine": {"name": "clues"}}}, True),
        ({"engine": ENDPOINT, "verifier": {"consistency": {"engine": VLLM}}}, False),
        ({"engine": {"name": "scripted"}}, False),
        ({"engine": {"name": "scripted"}, "colocate": True}, True),
        ({}, False),
    ],
)
def test_rollouts_run_beside_the_gateway_when_their_engine_is_elsewhere(settings, colocated):
    args = load_config(None, settings)
    assert args.colocated is colocated
    assert AppArgs.model_validate(args.model_dump()).colocated is colocated


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"colocate": True}, "engine clues would compute in the gateway"),
        (
            {"engine": ENDPOINT, "colocate": True, "deployments": {"verifier": {"replicas": 2}}},
            "deployments.verifier has no effect: set deployments.gateway",
        ),
    ],
)
def test_an_engine_or_setting_that_cannot_be_colocated_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        load_config(None, settings)


def test_unknown_keys_are_named(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("gateway:\n  prot: 80\nengin: {name: clues}\n")
    with pytest.raises(ConfigError) as refused:
        load_config(path)
    assert "gateway.prot" in refused.value.detail
    assert "engin" in refused.value.detail
    assert str(path) in refused.value.detail


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("config_version: 99", "config_version is 99"),
        ("engine: {name: gpt}", "engine"),
        ("- a list", "must hold a mapping"),
        ("{", "cannot read"),
        ("gateway: {access: {requests_per_minute: .inf}}", "gateway.access.requests_per_minute"),
        ("deployments: {rollout: {autoscale: {min_replicas: 5, max_replicas: 2}}}", "min_replicas is above"),
    ],
)
def test_a_wrong_configuration_file_is_refused_with_the_reason(tmp_path, text, message):
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_config(path)
