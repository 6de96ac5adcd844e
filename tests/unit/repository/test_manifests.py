"""The manifests of Kubernetes and of compose: valid by the schemas of their readers, and true to each other."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from deployments.config import AppArgs
from deployments.observability.metrics import Metrics

ROOT = Path(__file__).parents[3]
CONFIGS = ROOT / "ray_configs"
MANIFESTS = sorted((CONFIGS / "kubernetes").glob("*.yaml"))
MONITORING = CONFIGS / "monitoring"
CRD = ROOT.parent / "shared" / "data" / "schemas" / "ray.io_rayservices.yaml"


def documents(path):
    return list(yaml.safe_load_all(path.read_text()))


def all_documents():
    return [document for path in MANIFESTS for document in documents(path)]


def of_kind(kind):
    return {one["metadata"]["name"]: one for one in all_documents() if one["kind"] == kind}


def ray_service():
    return yaml.safe_load((CONFIGS / "kuberay.yaml").read_text())


def args():
    serve = yaml.safe_load(ray_service()["spec"]["serveConfigV2"])
    return AppArgs.model_validate(serve["applications"][0]["args"])


def groups():
    cluster = ray_service()["spec"]["rayClusterConfig"]
    return {"head": cluster["headGroupSpec"], **{one["groupName"]: one for one in cluster["workerGroupSpecs"]}}


def strict(schema):
    """A schema of Kubernetes as JSON schema that refuses fields which the API server would drop without a word."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    closed = {name: strict(value) for name, value in schema.items() if name != "format"}
    open_ended = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
    if "properties" in schema and not open_ended and isinstance(schema["properties"], dict):
        closed["additionalProperties"] = False
    return closed


@pytest.fixture(scope="module")
def crd():
    if not CRD.is_file():
        pytest.skip("the CRD of KubeRay's RayService is not beside this checkout")
    versions = yaml.safe_load(CRD.read_text())["spec"]["versions"]
    schema = next(one for one in versions if one["name"] == "v1")["schema"]["openAPIV3Schema"]
    schema["properties"]["metadata"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return jsonschema.Draft202012Validator(strict(schema))


def test_the_ray_service_manifest_is_valid_by_the_definition_of_kuberay(crd):
    assert [error.message for error in crd.iter_errors(ray_service())] == []


def test_the_definition_refuses_a_field_with_a_typing_error(crd):
    wrong = ray_service()
    wrong["spec"]["rayClusterConfig"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["imag"] = "x"
    assert [error.validator for error in crd.iter_errors(wrong)] == ["additionalProperties"]


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_each_manifest_is_valid_for_kubernetes(path):
    kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    for document in documents(path):
        kubernetes_validate.validate(document, "1.31", strict=True)


def test_disruption_budgets_and_network_policies_select_existing_pods():
    pods = [group["template"]["metadata"]["labels"] for group in groups().values()]
    pods += [one["spec"]["template"]["metadata"]["labels"] for one in of_kind("Deployment").values()]

    def chosen(selector):
        return [labels for labels in pods if selector["matchLabels"].items() <= labels.items()]

    budgets = of_kind("PodDisruptionBudget")
    assert sorted(tuple(one.items()) for budget in budgets.values() for one in chosen(budget["spec"]["selector"])) == (
        sorted(tuple(one.items()) for one in pods)
    )
    policies = of_kind("NetworkPolicy").values()
    assert all(chosen(policy["spec"]["podSelector"]) for policy in policies)
    ours = [peer["podSelector"] for policy in policies for rule in policy["spec"].get("ingress", ())
            for peer in rule.get("from", ()) if "namespaceSelector" not in peer]  # fmt: skip
    assert ours
    assert all(chosen(selector) for selector in ours)


def test_the_network_policy_opens_only_the_port_of_the_service_to_others():
    policy = of_kind("NetworkPolicy")["geotts"]["spec"]
    for_all = [rule["ports"] for rule in policy["ingress"] if "from" not in rule]
    assert for_all == [[{"port": args().gateway.port, "protocol": "TCP"}]]
    assert of_kind("NetworkPolicy")["geotts-redis"]["spec"]["egress"] == []


def test_gateways_grow_and_share_the_redis_that_is_deployed():
    service = of_kind("Service")["geotts-redis"]
    port = service["spec"]["ports"][0]["port"]
    assert args().gateway.run_store == f"redis://geotts-redis:{port}/0"
    assert args().tools.cache == f"redis://geotts-redis:{port}/1"
    assert args().deployments.gateway.autoscale.min_replicas >= 2
    labels = of_kind("Deployment")["geotts-redis"]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()


def test_each_gateway_has_a_pod_of_its_own_in_the_group_cpu():
    gateway, others = args().deployments.gateway, groups()
    cpus = {name: int(group["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"])
            for name, group in others.items()}  # fmt: skip
    placed = {name: int(group["rayStartParams"].get("num-cpus", cpus[name])) for name, group in others.items()}
    assert placed["cpu"] / 2 < gateway.num_cpus <= placed["cpu"]
    assert placed["head"] < gateway.num_cpus
    assert placed["gpu"] < gateway.num_cpus
    assert args().deployments.rollout.num_cpus <= placed["gpu"]
    assert others["cpu"]["maxReplicas"] >= gateway.autoscale.max_replicas
    assert others["cpu"]["template"]["metadata"]["annotations"]["prometheus.io/port"] == str(args().gateway.port)


def test_pods_run_as_the_user_of_the_image_and_write_only_where_volumes_are():
    user = int(re.search(r"^USER (\d+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE).group(1))
    for group in groups().values():
        spec = group["template"]["spec"]
        assert spec["securityContext"]["runAsUser"] == user
        assert spec["securityContext"]["runAsNonRoot"]
        (container,) = spec["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert {"/tmp", "/var/lib/geotts", "/dev/shm"} <= {one["mountPath"] for one in container["volumeMounts"]}
        assert {one["name"] for one in container["volumeMounts"]} <= {one["name"] for one in spec["volumes"]}
    claims = [one["persistentVolumeClaim"]["claimName"] for one in groups()["gpu"]["template"]["spec"]["volumes"]
              if "persistentVolumeClaim" in one]  # fmt: skip
    assert set(claims) == set(of_kind("PersistentVolumeClaim"))


def promtool(*arguments, cwd=None):
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False, cwd=cwd)
    return done.returncode, done.stdout + done.stderr


def test_alerts_fire_on_a_bad_hour_and_are_quiet_on_a_good_one():
    code, output = promtool("test", "rules", str(MONITORING / "alerts_test.yaml"))
    assert code == 0, output
    alerts = documents(MONITORING / "alerts.yaml")[0]["groups"][0]["rules"]
    good, bad = documents(MONITORING / "alerts_test.yaml")[0]["tests"]
    assert [one["alertname"] for one in good["alert_rule_test"]] == [one["alert"] for one in alerts]
    assert bad["promql_expr_test"][0]["exp_samples"][0]["value"] == len(alerts)


def test_prometheus_accepts_its_configuration(tmp_path):
    key = tmp_path / "key"
    key.write_text("k")
    text = (MONITORING / "prometheus.yaml").read_text().replace("/run/secrets/metrics_key", str(key))
    (tmp_path / "prometheus.yaml").write_text(text)
    shutil.copy(MONITORING / "alerts.yaml", tmp_path)
    code, output = promtool("check", "config", "prometheus.yaml", cwd=tmp_path)
    assert code == 0, output


def test_alerts_ask_for_metrics_and_labels_that_exist():
    text = Metrics().exposition().decode()
    kinds = dict(line.split()[2:4] for line in text.splitlines() if line.startswith("# TYPE"))
    there = {*kinds, *(f"{name}_bucket" for name, kind in kinds.items() if kind == "histogram")}
    asked = set(re.findall(r"\b(?:geotts|process)_\w+", "".join(
        rule["expr"] for rule in documents(MONITORING / "alerts.yaml")[0]["groups"][0]["rules"]
    )))  # fmt: skip
    assert asked <= there


def test_compose_mounts_existing_files_and_starts_the_service_with_valid_settings():
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    services = compose["services"]
    for service in services.values():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert (ROOT / source).is_file() if source.startswith("./") else source in compose["volumes"]
        assert set(service.get("secrets", ())) <= set(compose["secrets"])
        assert set(service.get("depends_on", ())) <= set(services)
    settings = [one.removeprefix("--set=") for one in services["geotts"]["command"] if one.startswith("--set=")]
    tree: dict[str, dict[str, Any]] = {}
    for one in settings:
        name, _, value = one.partition("=")
        section, _, key = name.partition(".")
        tree.setdefault(section, {}).update(_nested(key.split("."), value))
    configured = AppArgs.model_validate(tree)
    assert configured.gateway.run_store == "redis://redis:6379/0"
    port = documents(MONITORING / "collector.yaml")[0]["receivers"]["otlp"]["protocols"]["http"]["endpoint"][-4:]
    assert configured.telemetry.endpoint.startswith(f"http://collector:{port}/")
    (job,) = documents(MONITORING / "prometheus.yaml")[0]["scrape_configs"]
    assert job["static_configs"][0]["targets"] == ["geotts:8000"]
    longest = max(getattr(configured.deployments, name).drain_s for name in type(configured.deployments).model_fields)
    assert float(services["geotts"]["stop_grace_period"].rstrip("s")) > longest


def _nested(keys, value):
    return {keys[0]: _nested(keys[1:], value) if keys[1:] else value}
