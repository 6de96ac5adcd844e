"""A real local Ray cluster, started once a module with the configuration the module names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.ports import free_port

from deployments.config import AppArgs
from deployments.launch.cluster import ServedApplication, serve_configuration


@pytest.fixture(scope="module")
def service(request: pytest.FixtureRequest, data_store: object) -> Iterator[ServedApplication]:
    """The application of the module's `ARGS` on a free port."""
    args: AppArgs = request.module.ARGS
    gateway = args.gateway.model_copy(update={"port": free_port()})
    with serve_configuration(args.model_copy(update={"gateway": gateway})) as running:
        yield running
