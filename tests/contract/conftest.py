"""Providers against recorded replies."""

import pytest
from support.provider_calls import ALLOWED
from support.provider_server import provided


@pytest.fixture
def provide(gazetteer, countries):
    return lambda *names, region_search=ALLOWED, **options: provided(
        *names, gazetteer=gazetteer, countries=countries, region_search=region_search, **options
    )
