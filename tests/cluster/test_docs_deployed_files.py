"""Every shipped Serve configuration goes through `serve deploy` onto a started Ray, and photos are located through it.

The cluster is two machines (network namespaces) with as many logical GPUs as the files ask for and Ray's token
authentication on, so the files keep their ports, addresses, processors, GPUs and bundles: only engines are replaced.
"""

import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import orjson
import pytest
import yaml
from support.basics import ROOT
from support.deployed_files import (
    CONFIGS,
    PHOTO,
    TOKEN,
    deploy,
    differences,
    locate,
    operators_environment,
    read_deployed_file,
    wait_for,
)
from support.namespaces import Machine, machines
from support.ray_nodes import GCS_PORT, ray_cluster, stop_family, tool
from support.redis_server import redis_program

ENGINE = {"name": "scripted", "turns": 2, "tokens_per_turn": 8}
NAMES = sorted(path.name for path in CONFIGS.glob("*.yaml"))
APPLICATIONS = """
import httpx, sys
reply = httpx.get("http://127.0.0.1:8265/api/serve/applications/", headers={"Authorization": f"Bearer {sys.argv[1]}"})
print(reply.raise_for_status().text)
"""
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


def with_scripted_engines(node, engine=ENGINE):
    """The same tree; whatever is called an engine is a scripted one."""
    if isinstance(node, dict):
        return {
            key: dict(engine) if key == "engine" else with_scripted_engines(value, engine)
            for key, value in node.items()
        }
    return [with_scripted_engines(value, engine) for value in node] if isinstance(node, list) else node


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, data_store):
    """Two machines with a running Ray and, where it is installed, a Redis that they know as `redis`; their environment
    has a key of the service, the file with Ray's token, and keys for the live tools, which cannot be reached from
    there."""
    folder = tmp_path_factory.mktemp("deploy")
    token = folder / "token"
    environment = operators_environment(token)
    with machines(2, environment=environment, names={"redis": "10.213.0.1", "geotts-redis": "10.213.0.1"}) as pair:
        options = ("--save", "", "--dir", folder, "--protected-mode", "no")
        program = shutil.which("redis-server")
        redis = None if program is None else pair[0].start(program, *options, stdout=subprocess.DEVNULL)
        try:
            with ray_cluster(pair, num_cpus=16, num_gpus=8):
                yield pair
        finally:
            if redis is not None:
                stop_family(redis)


@pytest.fixture
def head(nodes):
    """The machine of the head node. Serve's HTTP options are those of its first start: each test gets a new one."""
    yield nodes[0]
    done = nodes[0].run(tool("serve"), "shutdown", "-y", cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_file_is_deployed_and_locates_a_photo(head, tmp_path, name):
    rendered = with_scripted_engines(read_deployed_file(name))
    if "'run_store': 'redis://" in str(rendered):  # without a cache in Redis, tools go on
        redis_program()
    assert all(".engine." in f"{place}." for place in differences(read_deployed_file(name), rendered))
    deploy(head, tmp_path, rendered)
    wait_for(head, "RUNNING")
    answer = locate(head, f"http://127.0.0.1:{rendered['http_options']['port']}")["answer"]
    assert answer["lat"] is not None
    assert answer["provenance"]["model"].startswith("scripted")
    assert answer["n"]["answered"] == answer["n"]["run"] >= 1


def test_a_deployed_file_with_wrong_arguments_fails_with_their_names(head, tmp_path):
    tree = read_deployed_file("local.yaml")
    tree["applications"][0]["args"]["gateway"]["max_in_flight"] = 0
    tree["applications"][0]["args"]["engin"] = {"name": "clues"}
    deploy(head, tmp_path, tree)
    message = wait_for(head, "DEPLOY_FAILED")["message"]
    assert "gateway.max_in_flight" in message
    assert "engin\n" in message


def test_each_of_two_nodes_answers_with_a_gateway_of_its_own(nodes, head, tmp_path):
    """As the header of cluster.yaml says: several gateways, and the run store in Redis. Machines ask each other."""
    redis_program()
    tree = with_scripted_engines(read_deployed_file("cluster.yaml"))
    args = tree["applications"][0]["args"]
    args["deployments"]["gateway"]["replicas"] = 2
    args["gateway"]["run_store"] = "redis://redis:6379/0"
    deploy(head, tmp_path, tree)
    wait_for(head, "RUNNING")
    assert nodes_of_gateways(head) == {machine.address for machine in nodes}
    for asking, asked in (nodes, reversed(nodes)):
        answer = locate(asking, f"http://{asked.address}:8000")["answer"]
        assert answer["lat"] is not None
        assert answer["n"]["answered"] == answer["n"]["run"] >= 1


def nodes_of_gateways(head):
    """The addresses of the nodes on which the replicas of the gateway run."""
    done = head.run(tool("python"), "-c", APPLICATIONS, TOKEN)
    deployments = orjson.loads(done.stdout)["applications"]["geotts"]["deployments"]
    return {replica["node_ip"] for replica in deployments["Gateway"]["replicas"]}


def slow_config(folder, turn_s=2.0):
    config = folder / "slow.yaml"
    engine = {**ENGINE, "turn_s": turn_s}
    config.write_text(yaml.safe_dump({"engine": engine, "routing": {"method": "fixed"}, "colocate": True}))
    return config


def wait_until_logged(pattern, process, log, seconds=180):
    give_up = time.monotonic() + seconds
    while (found := re.search(pattern, log.read_text())) is None:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < give_up, log.read_text()
        time.sleep(0.1)
    return found


def with_the_token_at_its_default_path(folder):
    """A user's home folder with Ray's token, and the words before a command that has nothing but that to find it."""
    (folder / ".ray").mkdir()
    (folder / ".ray" / "auth_token").write_text(TOKEN)
    return "env", "-u", "RAY_AUTH_TOKEN_PATH", f"HOME={folder}", f"XDG_CACHE_HOME={Path.home() / '.cache'}"


@pytest.mark.parametrize(("number", "end"), [(0, signal.SIGTERM), (1, signal.SIGINT)])
def test_geotts_serve_joins_a_cluster_prints_its_address_and_drains_on_a_stop(nodes, head, tmp_path, number, end):
    """From the head and from another node. It listens on loopback, so its gateway is on the node that started it. It
    finds Ray's token in the home folder; a second one, and its own clients, by the variable."""
    here, log, address = nodes[number], tmp_path / "log", f"{head.address}:{GCS_PORT}"
    command = (tool("geotts"), "serve", "--address", address, "--config", slow_config(tmp_path))
    at_home = with_the_token_at_its_default_path(tmp_path)
    with log.open("w") as out, here.start(*at_home, *command, cwd=ROOT, stdout=out, stderr=out) as process:
        try:
            url = wait_until_logged(r"ready at (\S+)", process, log)[1]
            assert nodes_of_gateways(head) == {here.address}
            second = here.run(*command, cwd=ROOT)
            assert second.returncode == 2
            assert "already runs an application" in second.stderr
            asking = (tool("geotts"), "locate", PHOTO, "--json", "--depth", "deep", "--url", url)
            with here.start(*asking, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as client:
                wait_until_working(here, url)
                process.send_signal(end)
                answered, err = client.communicate(timeout=120)
            assert client.returncode == 0, err
            assert orjson.loads(answered)["answer"]["lat"] is not None
            assert process.wait(120) == 0, log.read_text()
        finally:
            stop_family(process)
    assert "***" not in log.read_text()
    assert "SERVE_CONTROLLER" not in head.run(tool("ray"), "list", "actors", "--filter", "state=ALIVE", cwd=ROOT).stdout


def wait_until_working(machine: Machine, url):
    script = "import httpx, sys; print(httpx.get(sys.argv[1] + '/metrics').text)"
    for _ in range(100):
        metrics = machine.run(tool("python"), "-c", script, url).stdout
        if re.search(r'^geotts_in_flight\{state="working"\} [1-9]', metrics, re.MULTILINE):
            return
        time.sleep(0.1)
    raise AssertionError(metrics)


def test_geotts_serve_without_the_token_of_a_cluster_says_which_setting_is_missing(nodes, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    done = nodes[0].run(
        tool("geotts"), "serve", "--address", f"{nodes[0].address}:{GCS_PORT}", "--config", slow_config(tmp_path),
        cwd=ROOT, env={"RAY_AUTH_MODE": "disabled", "HOME": str(empty), "XDG_CACHE_HOME": str(Path.home() / ".cache")},
    )  # fmt: skip
    assert done.returncode == 1
    assert "wants its token: set RAY_AUTH_MODE=token" in done.stderr
    assert "***" not in done.stderr
