"""Checks that a bundle is unchanged: every hash, every derived file, and the archive itself, byte by byte."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import orjson

from tts.bundle.bundle_files import MANIFEST, REPLAY, SIGNATURE, Replay, derive_files, events_in
from tts.bundle.zip_archive import pack, unpack
from tts.errors import DataError


def checked_entries(data: bytes) -> dict[str, bytes]:
    """The files of a bundle, if all its checks pass.

    Raises:
        DataError: names the first thing that does not.
    """
    entries = unpack(data)
    made = derive_files(entries)
    for name in sorted(made):
        if name == MANIFEST:
            _compare_files(entries)
        if entries.get(name) != made[name]:
            raise DataError(f"{name} is not what follows from the other files: the bundle was changed")
    _check_log(entries)
    _check_names(entries)
    if pack(entries) != data:
        raise DataError("the archive is not canonical: its bytes were changed")
    return entries


def _compare_files(entries: Mapping[str, bytes]) -> None:
    """Says which file does not have the hash of the manifest, rather than that the manifest is another."""
    try:
        listed = orjson.loads(entries[MANIFEST])["files"]
        stated = {name: str(one["sha256"]) for name, one in listed.items()}
    except (KeyError, TypeError, AttributeError, orjson.JSONDecodeError) as error:
        raise DataError(f"{MANIFEST} is not there, or is damaged") from error
    there = entries.keys() - {MANIFEST, SIGNATURE}
    if there != stated.keys():
        raise DataError(f"{min(there ^ stated.keys())} is listed or there, and not both")
    for name in sorted(there):
        if hashlib.sha256(entries[name]).hexdigest() != stated[name]:
            raise DataError(f"{name} was changed: its hash is not that of the manifest")


def _check_log(entries: Mapping[str, bytes]) -> None:
    log = events_in(entries)
    if [event.seq for event in log] != list(range(1, len(log) + 1)):
        raise DataError("the events are not numbered from 1 without gaps")
    photos = [photo.sha256 for event in log if event.type == "accepted" for photo in event.photos]
    missing = [one for one in photos if f"photos/{one}.jpg" not in entries]
    if missing:
        raise DataError(f"the photo {missing[0]} is not in the bundle")


def _check_names(entries: Mapping[str, bytes]) -> None:
    """A picture is named by its hash."""
    for name, data in entries.items():
        folder, _, rest = name.partition("/")
        if folder in ("photos", "files") and rest.removesuffix(".jpg") != hashlib.sha256(data).hexdigest():
            raise DataError(f"{name} does not have the hash of its name")


def replay_of(entries: Mapping[str, bytes]) -> Replay:
    """What a replay needs. Raises DataError."""
    try:
        return Replay.model_validate_json(entries[REPLAY])
    except (KeyError, ValueError) as error:
        raise DataError(f"{REPLAY} is not there, or is damaged") from error
