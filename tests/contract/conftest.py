"""Providers against recorded replies."""

import pytest
from support.provider_calls import ALLOWED
from support.provider_server import served_providers


@pytest.fixture
def provide(gazetteer, countries):
    return lambda *names, region_search=ALLOWED, **options: served_providers(
        *names, gazetteer=gazetteer, countries=countries, region_search=region_search, **options
    )
