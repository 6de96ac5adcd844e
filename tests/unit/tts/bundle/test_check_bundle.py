"""A bundle that was made by hand: it passes its check, and a changed, missing or extra file is refused by its name.

Bundles of real requests are in `tests/unit/deployments/cli/test_bundle_cli.py`.
"""

import pytest
from support.made_bundles import made_entries

from tts.bundle.bundle_files import ANSWER, EVENTS, MANIFEST, REPLAY, derive_files
from tts.bundle.check_bundle import checked_entries, replay_of
from tts.bundle.zip_archive import pack
from tts.errors import DataError


def test_a_bundle_passes_its_check_and_says_how_it_is_replayed():
    entries = checked_entries(pack(made_entries()))
    assert entries == made_entries()
    assert replay_of(entries).verifier == "consensus"


@pytest.mark.parametrize("name", sorted(made_entries()))
def test_a_changed_or_missing_file_is_refused(name):
    entries = made_entries()
    with pytest.raises(DataError):
        checked_entries(pack({**entries, name: entries[name] + b" "}))
    del entries[name]
    with pytest.raises(DataError):
        checked_entries(pack(entries))


def test_a_file_that_the_manifest_does_not_list_is_refused_by_its_name():
    with pytest.raises(DataError, match=r"more\.txt is listed or there"):
        checked_entries(pack({**made_entries(), "more.txt": b""}))


def test_an_answer_is_derived_from_the_log_and_not_taken_from_its_file():
    forged = {**made_entries(), ANSWER: b"{}\n"}
    assert derive_files(forged)[ANSWER] == made_entries()[ANSWER]
    with pytest.raises(DataError, match=r"answer\.json is not what follows"):
        checked_entries(pack(forged))


def test_a_gap_in_the_numbers_of_the_events_is_refused():
    entries = made_entries()
    lines = entries[EVENTS].splitlines(keepends=True)
    entries[EVENTS] = b"".join(lines[:-1]) + lines[-1].replace(b'"seq":3', b'"seq":4')
    with pytest.raises(DataError, match="without gaps"):
        checked_entries(pack(entries | derive_files(entries)))


def test_a_photo_without_the_hash_of_its_name_is_refused():
    entries = made_entries()
    name = next(name for name in entries if name.startswith("photos/"))
    entries[name] = b"another photo"
    with pytest.raises(DataError, match="hash of its name"):
        checked_entries(pack(entries | derive_files(entries)))


def test_damaged_settings_of_a_replay_are_an_error():
    with pytest.raises(DataError, match=r"replay\.json"):
        replay_of({REPLAY: b"{"})
    with pytest.raises(DataError, match=r"manifest\.json is not there, or is damaged"):
        checked_entries(pack({**made_entries(), MANIFEST: b"{"}))
