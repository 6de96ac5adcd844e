"""Writes recorded searches in the SQLite files of REVERSE's evaluation, with the keys of its own scripts."""

import hashlib
import json
import sqlite3
from contextlib import closing

from tts.toolkit.reverse_cache.evaluation import IMAGE_FILE, TEXT_FILE

_CREATED_AT = 1_700_000_000


def write_text_search(folder, query, *hits):
    """Add the results of a query to the file of text searches."""
    result = json.dumps({"success": True, "query": query, "results": hits}, ensure_ascii=False)
    _append_row(folder / TEXT_FILE, key=_hash_key(query.strip().lower()), query=query, result=result)


def write_picture_search(folder, path, box, *hits):
    """Add the results for a box of a photo to the file of image searches."""
    bbox = ",".join(f"{side:.1f}" for side in box)
    result = json.dumps({"results": hits}, ensure_ascii=False)
    _append_row(folder / IMAGE_FILE, key=_hash_key(f"{path}|{bbox}"), img_path=path, bbox=bbox, result=result)


def _hash_key(text):
    return hashlib.sha256(text.encode()).hexdigest()


def _append_row(path, **row):
    row |= {"created": _CREATED_AT}
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE IF NOT EXISTS {path.stem} ({', '.join(row)}, PRIMARY KEY (key))")
        database.execute(f"INSERT INTO {path.stem} VALUES ({', '.join('?' for _ in row)})", tuple(row.values()))
