"""A service with the embedded engine, for the tests that need one that really reads signs."""

import pytest
from support.service import idle, serving

from deployments.config import AppArgs
from deployments.wiring.local import local_ports


@pytest.fixture(scope="module")
def clues(data_store):
    """Its configuration and its parts, which are made once a module."""
    args = AppArgs()
    return args, local_ports(args)


@pytest.fixture
async def url(clues):
    """The address of the service; nothing runs there any more when a test has ended."""
    args, ports = clues
    async with serving(args, ports=ports) as (url, gateway):
        yield url
        await idle(gateway)
