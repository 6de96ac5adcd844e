"""A cluster that is already running: where the gateway must be, and what may not be replaced there."""

from types import SimpleNamespace

import pytest

from deployments.config import AppArgs, DeploymentConfig, DeploymentsConfig
from deployments.launch import shared_cluster
from deployments.launch.shared_cluster import SharedClusterServe, reachable_from_here
from tts.errors import ConfigError

HERE = "10.0.0.7"


@pytest.fixture
def cluster(monkeypatch):
    """Two nodes, of which the second is this machine; `listen(host)` says where Serve listens."""
    nodes = [{"NodeManagerAddress": address, "Alive": True} for address in ("10.0.0.1", HERE)]
    nodes.append({"NodeManagerAddress": "10.0.0.9", "Alive": False})
    monkeypatch.setattr(shared_cluster.ray, "nodes", lambda: nodes)
    monkeypatch.setattr(shared_cluster, "_own_addresses", lambda: {HERE, "127.0.0.1", "10.0.0.9"})

    def listen(host):
        monkeypatch.setattr(shared_cluster, "serve_listener", lambda: SimpleNamespace(host=host, port=8000))

    return listen


def resources_of(args):
    return args.deployments.gateway.resources


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_gateway_stays_on_this_node_where_serve_listens_on_loopback(cluster, host):
    cluster(host)
    assert resources_of(reachable_from_here(AppArgs())) == {f"node:{HERE}": 0.001}


def test_the_gateway_may_be_anywhere_where_serve_listens_on_an_address_of_the_network(cluster):
    cluster("0.0.0.0")
    assert reachable_from_here(AppArgs()) == AppArgs()


def test_a_gateway_with_bundles_stays_where_it_was_put(cluster):
    cluster("127.0.0.1")
    args = AppArgs(deployments=DeploymentsConfig(gateway=DeploymentConfig(bundles=({"CPU": 1.0},))))
    assert reachable_from_here(args) == args


def test_an_application_is_looked_for_on_this_machine_first(cluster):
    assert shared_cluster._hosts_to_try("0.0.0.0") == [HERE, "10.0.0.1"]
    assert shared_cluster._hosts_to_try("192.0.2.1") == ["192.0.2.1"]


@pytest.mark.parametrize("there", [True, False])
def test_a_second_application_of_the_same_name_is_refused(monkeypatch, there):
    actors = [{"name": "SERVE_CONTROLLER_ACTOR", "namespace": "serve"}]
    monkeypatch.setattr(shared_cluster.ray.util, "list_named_actors", lambda all_namespaces: actors)
    applications = {"geotts": None} if there else {"another": None}
    monkeypatch.setattr(shared_cluster.serve, "status", lambda: SimpleNamespace(applications=applications))
    joined = SharedClusterServe("geotts")
    if there:
        with pytest.raises(ConfigError, match="already runs an application 'geotts'"):
            joined.refuse_second()
    else:
        joined.refuse_second()
