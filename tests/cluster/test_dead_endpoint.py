"""An endpoint that is not there, with rollouts in the gateway and in replicas of their own: an error at every door."""

import socket

import httpx
import pytest
from support.plain_photo import plain_photo
from support.ports import free_port

from deployments.config import AppArgs
from deployments.launch.cluster import serve_configuration
from tts.config import OpenAIEngine, RoutingConfig

pytestmark = pytest.mark.cluster
FORM = {"n_parallel": "2", "depth": "deep"}


@pytest.mark.parametrize("colocate", [True, False], ids=["colocated", "apart"])
def test_a_dead_endpoint_is_an_error_and_not_ready(data_store, colocate):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
    args = AppArgs(
        engine=OpenAIEngine(base_url=endpoint, model="m", retries=1, backoff_s=0.01),
        routing=RoutingConfig(method="fixed"),
        colocate=colocate,
    )
    args = args.model_copy(update={"gateway": args.gateway.model_copy(update={"port": free_port()})})
    with serve_configuration(args) as service, httpx.Client(base_url=service.url, timeout=60) as http:
        ready = http.get("/readyz")
        assert ready.status_code == 503
        assert ready.json()["checks"].pop("engine") == f"{endpoint} does not answer: ConnectError"
        assert {state for role, state in ready.json()["checks"].items() if role != "engine"} == {"ok"}
        reply = http.post("/locate", files={"image": plain_photo(320, 240)}, data=FORM)
        (cause,) = reply.json()["causes"]
        assert (reply.status_code, cause["endpoint"], cause["rollouts"]) == (503, endpoint, 2)
        assert "start the endpoint" in reply.json()["detail"]
