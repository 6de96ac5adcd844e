"""An operator takes one of two endpoints out of use, with a file or with `geotts endpoints`; no replica restarts."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from ray import serve
from ray.serve.context import _get_global_client
from ray.serve.schema import ServeDeploySchema
from support.basics import sign_bytes
from support.endpoint import DONE, chunk, serving_in_a_thread, usage
from support.geotts_process import geotts
from support.ports import free_port

from deployments.launch.cluster import prepare_ports
from deployments.serve.ray_start import start_ray, stop_ray

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
PHOTOS = [sign_bytes(f"Street {i}") for i in range(15)]  # so many that each endpoint is home to some
ANSWER = '{"lat": 43.19, "lon": 140.99, "city": "Otaru", "country": "Japan"}'
PAGES = {"/v1/models": {"data": [{"id": "m"}]}}


def two_turns(body, number):
    """It looks something up for a while, then answers."""
    if any(message["role"] == "tool" for message in body["messages"]):
        return [chunk(ANSWER), chunk(finish="stop"), usage(prompt=100), DONE]
    function = {"name": "poi_keyword_search", "arguments": '{"query": "Otaru"}'}
    call = {"index": 0, "id": "c", "type": "function", "function": function}
    return [6.0, chunk("I look."), chunk(tool_calls=[call]), chunk(finish="tool_calls"), usage(prompt=100), DONE]


def a_file(one, two, port, draining=None, **more):
    """What `serve deploy` is given."""
    engine = {"name": "openai", "base_url": one.url, "base_urls": [two.url], "model": "m", "server": "sglang"}
    args = {"engine": engine, "routing": {"method": "fixed"}, "gateway": {"port": port}, **more}
    app: dict[str, Any] = {"name": "geotts", "route_prefix": "/", "import_path": "deployments.app:build", "args": args}
    if draining is not None:
        app["deployments"] = [{"name": "Gateway", "user_config": {"draining": draining}}]
    return ServeDeploySchema.model_validate({"applications": [app]})


@pytest.fixture(scope="module")
def cluster(data_store):
    """The port where a gateway that is deployed here listens."""
    port = free_port()
    prepare_ports("127.0.0.1", port)
    start_ray(None, log_to_driver=False)
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": free_port()})
        yield port
        serve.shutdown()
    finally:
        stop_ray()


def wait_for(what, seconds=120):
    give_up = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < give_up, serve.status()
        time.sleep(0.1)


def runs():
    return serve.status().applications["geotts"].status == "RUNNING"


def test_conversations_on_a_drained_endpoint_end_there_and_new_ones_go_elsewhere(cluster):
    with (
        serving_in_a_thread(two_turns, PAGES) as one,
        serving_in_a_thread(two_turns, PAGES) as two,
        httpx.Client(base_url=f"http://127.0.0.1:{cluster}", timeout=60, trust_env=False) as http,
        ThreadPoolExecutor(len(PHOTOS)) as pool,
    ):

        def locate(photo):
            form = {"n_parallel": "1", "depth": "deep"}
            return http.post("/locate", files={"image": photo}, data=form).status_code

        def state():
            return http.get("/readyz").json()["checks"]["engine 2"]

        def process():
            return [line for line in http.get("/metrics").text.splitlines() if "process_start_time" in line][-1]

        client = _get_global_client()
        client.deploy_apps(a_file(one, two, cluster))
        wait_for(runs)
        started = process()
        running = pool.map(locate, PHOTOS)
        wait_for(lambda: len(one.bodies) + len(two.bodies) == len(PHOTOS))
        began = [len(one.bodies), len(two.bodies)]
        assert all(began)
        client.deploy_apps(a_file(one, two, cluster, [two.url]))
        wait_for(lambda: "is being drained" in state(), 20)
        assert set(running) == {200}
        assert [len(one.bodies), len(two.bodies)] == [2 * began[0], 2 * began[1]]
        assert list(pool.map(locate, PHOTOS)) == [200] * len(PHOTOS)
        assert len(two.bodies) == 2 * began[1]
        client.deploy_apps(a_file(one, two, cluster))
        wait_for(lambda: state() == "ok", 20)
        assert process() == started


async def test_every_replica_drains_the_endpoint_that_an_operator_drains(cluster):
    """Rollouts are in two replicas of their own here."""

    def at_once(body, number):
        return [chunk(ANSWER), chunk(finish="stop"), usage(prompt=100), DONE]

    with (
        serving_in_a_thread(at_once, PAGES) as one,
        serving_in_a_thread(at_once, PAGES) as two,
        httpx.Client(base_url=f"http://127.0.0.1:{cluster}", timeout=60, trust_env=False) as http,
    ):

        def locate_all():
            for photo in PHOTOS:
                form = {"n_parallel": "2", "depth": "deep"}
                assert http.post("/locate", files={"image": photo}, data=form).status_code == 200

        _get_global_client().deploy_apps(a_file(one, two, cluster, colocate=False))
        wait_for(lambda: runs() and serve.status().applications["geotts"].deployments["Rollout"].status == "HEALTHY")
        locate_all()
        before = len(two.bodies)
        assert before
        code, out, err = await geotts("endpoints", "drain", two.url, "--url", str(http.base_url))
        assert (code, err, f"{two.url}  draining" in out) == (0, "", True)
        locate_all()
        assert len(two.bodies) == before
        code, _, err = await geotts("endpoints", "undrain", two.url, "--url", str(http.base_url))
        assert (code, err) == (0, "")
        locate_all()
        assert len(two.bodies) > before
