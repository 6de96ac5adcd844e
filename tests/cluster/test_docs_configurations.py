"""Configurations that the documentation shows go through `serve deploy`, on the head of a running Ray cluster."""

import pytest
from support.docs_places import CONFIGURATIONS, a_place, a_reader
from support.docs_runner import deploy_config
from support.namespaces import Machine, missing_requirement
from support.ray_nodes import ray_cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def operator(tmp_path_factory, data_store):
    if reason := missing_requirement():
        pytest.skip(reason)
    with a_place(tmp_path_factory.mktemp("ray")) as place:
        assert isinstance(place, Machine)
        reader = a_reader(place, tmp_path_factory.mktemp("configs"))
        with ray_cluster([place], num_cpus=16, environment=reader.environment, cwd=reader.folder):
            yield reader


@pytest.mark.parametrize("block", CONFIGURATIONS, ids=str)
def test_a_configuration_in_the_documentation_can_be_deployed(operator, block):
    deploy_config(operator, block)
