"""What an answer says about how it was made."""

import pytest

from geotts_client import Client, LocateOptions
from tts.package_files import sample_photos

SIGN = sample_photos()["town-sign-latin.jpg"].read_bytes()


async def provenance_of(url, **options):
    async with Client(url) as client:
        return (await client.locate([SIGN], LocateOptions(n_parallel=1, seed=1, **options))).answer.provenance


@pytest.mark.parametrize(("named", "dialect", "hash_length"), [
    (None, "generic", 64), ("generic", "generic", 64), ("geoagent", "geoagent", 0),
])  # fmt: skip
async def test_the_prompt_hash_is_that_of_the_stated_dialect_or_empty(url, named, dialect, hash_length):
    provenance = await provenance_of(url, dialect=named)
    assert (provenance.dialect, len(provenance.prompt_sha256)) == (dialect, hash_length)
