"""Every shipped Serve configuration is one that Serve and we accept, and asks for what its machines have."""

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError
from ray.serve._private.api import call_user_app_builder_with_args_if_necessary as build_as_ray_does
from ray.serve.schema import ServeDeploySchema

from deployments.app import build
from deployments.config import AppArgs, load_config

CONFIGS = Path(__file__).parents[3] / "ray_configs"
SERVE = sorted(path.name for path in CONFIGS.glob("*.yaml") if path.name != "kuberay.yaml")


def kuberay():
    return yaml.safe_load((CONFIGS / "kuberay.yaml").read_text())


def serve_config(name):
    if name == "kuberay.yaml":
        return yaml.safe_load(kuberay()["spec"]["serveConfigV2"])
    return yaml.safe_load((CONFIGS / name).read_text())


@pytest.mark.parametrize("name", [*SERVE, "kuberay.yaml"])
def test_ray_serve_and_geotts_accept_every_shipped_configuration(name):
    config = ServeDeploySchema.model_validate(serve_config(name))
    (application,) = config.applications
    assert application.import_path == "deployments.app:build"
    assert build_as_ray_does(build, application.args) is not None


def test_ray_refuses_arguments_that_are_wrong_and_names_them():
    with pytest.raises(ValidationError, match=r"gateway\.max_in_flight\n"):
        build_as_ray_does(build, {"gateway": {"max_in_flight": 0}})


@pytest.mark.parametrize("name", [*SERVE, "kuberay.yaml"])
def test_a_replica_holds_the_gpus_its_model_is_split_over(name):
    args = AppArgs.model_validate(serve_config(name)["applications"][0]["args"])
    for engine, deployment in (
        (args.engine, args.deployments.rollout),
        (args.verifier.engine, args.deployments.verifier),
    ):
        if engine is not None and engine.name == "vllm":
            gpus = sum(bundle.get("GPU", 0) for bundle in deployment.bundles) or deployment.num_gpus
            assert gpus == engine.tensor_parallel


@pytest.mark.parametrize("name", [*SERVE, "kuberay.yaml"])
def test_streams_are_drained_before_a_replica_stops(name):
    args = AppArgs.model_validate(serve_config(name)["applications"][0]["args"])
    rollout = args.deployments.rollout
    if rollout.autoscale is not None:
        assert rollout.drain_s >= args.gateway.default_deadline_s
        assert rollout.autoscale.downscale_delay_s >= 60


def test_kubernetes_waits_for_the_longest_drain_and_has_a_gpu_for_every_replica():
    cluster = kuberay()["spec"]["rayClusterConfig"]
    args = AppArgs.model_validate(serve_config("kuberay.yaml")["applications"][0]["args"])
    groups = {group["groupName"]: group for group in cluster["workerGroupSpecs"]}
    longest = max(getattr(args.deployments, name).drain_s for name in type(args.deployments).model_fields)
    for group in groups.values():
        assert group["template"]["spec"]["terminationGracePeriodSeconds"] > longest
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    gpus = groups["gpu"]["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]
    rollout = args.deployments.rollout
    assert gpus * groups["gpu"]["maxReplicas"] >= rollout.num_gpus * rollout.autoscale.max_replicas


def test_the_command_line_reads_every_shipped_configuration():
    for name in SERVE:
        assert load_config(CONFIGS / name).config_version == 1
