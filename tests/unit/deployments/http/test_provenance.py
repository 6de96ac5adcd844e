"""What an answer says about how it was made."""

import pytest

from deployments.config import AppArgs
from deployments.wiring.parts import make_dialect
from geotts_client import Client, LocateOptions
from tts.dialects.base import prompt_hash
from tts.package_files import sample_photos

SIGN = sample_photos()["town-sign-latin.jpg"].read_bytes()


async def provenance_of(url, **options):
    async with Client(url) as client:
        return (await client.locate([SIGN], LocateOptions(n_parallel=1, seed=1, **options))).answer.provenance


@pytest.mark.parametrize(("named", "used"), [(None, "generic"), ("generic", "generic"), ("geoagent", "geoagent")])
async def test_the_prompt_hash_is_that_of_the_dialect_of_the_request(url, named, used):
    provenance = await provenance_of(url, dialect=named)
    assert provenance.dialect == used
    assert provenance.prompt_sha256 == prompt_hash(make_dialect(used, AppArgs()))
