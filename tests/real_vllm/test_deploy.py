"""The file of path A (eight GPUs, the published weights) through the real `serve deploy`, up to where a GPU is needed.

The model of 30 billion parameters is a tiny one here and runs on the processor: only what names the model, its size and
its GPUs is replaced. Dialect, limits, verifier, tools, placement and ports stay as shipped. A model with random weights
keeps to no format, so a photo gets the error that says so: turns were generated, and none could be used.
"""

import copy

import pytest
from support.basics import ROOT
from support.deployed_files import deploy, differences, locate, operators_environment, read_deployed_file, wait_for
from support.namespaces import machines
from support.ray_nodes import ray_cluster, tool

pytestmark = pytest.mark.timeout(900)
REPLACED = {
    ".engine.model", ".engine.tensor_parallel", ".engine.load_format", ".engine.kv_cache_gb", ".engine.eager",
    ".deployments.rollout.replicas", ".deployments.rollout.num_gpus",
}  # fmt: skip


def with_a_tiny_model(tree, folder):
    """The file for one processor: a model that fits there, one replica of it, no GPU."""
    tree = copy.deepcopy(tree)
    args = tree["applications"][0]["args"]
    args["engine"] |= {
        "model": str(folder), "tensor_parallel": 1, "load_format": "dummy", "kv_cache_gb": 1, "eager": True,
    }  # fmt: skip
    args["deployments"]["rollout"] |= {"replicas": 1, "num_gpus": 0}
    return tree


@pytest.fixture(scope="module")
def node(tmp_path_factory, data_store):
    """A machine with a running Ray, a key of the service, and the keys of live tools that the file asks for."""
    token = tmp_path_factory.mktemp("deploy") / "token"
    environment = operators_environment(token)
    with machines(1, environment=environment) as (machine,), ray_cluster([machine]):
        yield machine
        done = machine.run(tool("serve"), "shutdown", "-y", cwd=ROOT)
        assert done.returncode == 0, done.stdout + done.stderr


def test_thinking_with_map_is_deployed_with_vllm_and_its_model_replies_to_a_photo(node, tiny_qwen3, tmp_path):
    tree = read_deployed_file("thinking_with_map.yaml")
    rendered = with_a_tiny_model(tree, tiny_qwen3)
    assert {place.removeprefix(".applications[0].args") for place in differences(tree, rendered)} == REPLACED
    deploy(node, tmp_path, rendered)
    wait_for(node, "RUNNING", seconds=500)
    url = f"http://127.0.0.1:{rendered['http_options']['port']}"
    failed = locate(node, url, "-n", "2", "--deadline", "240", code=1)["error"]
    assert (failed["code"], failed["status"]) == ("rollouts-failed", 503)
    assert sum(cause["rollouts"] for cause in failed["causes"]) == 2
    for cause in failed["causes"]:
        assert cause["code"] == "model"
        assert "turns could not be used" in cause["detail"], "the model spoke, and kept to no format"
    assert failed["seq"] > 100, "what it said was streamed"
