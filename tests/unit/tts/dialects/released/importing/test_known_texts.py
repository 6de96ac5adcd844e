"""Published texts that an import recognises."""

from tts.dialects.released.importing import IMPORTERS
from tts.dialects.released.importing.known_texts import KNOWN_COMMITS, KNOWN_TEXTS


def test_every_importer_has_its_published_hashes():
    loops = {path.partition("/")[0] for path in KNOWN_TEXTS}
    assert loops == set(IMPORTERS) == set(KNOWN_COMMITS)
    assert all(len(sha256) == 64 for texts in KNOWN_TEXTS.values() for sha256 in texts.values())
