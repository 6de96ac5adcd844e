"""Locate a folder of photos as jobs that survive this program: run it again and nothing is done twice.

python examples/locate_folder.py tts/data/samples http://127.0.0.1:8000 > found.jsonl
"""

import hashlib
import json
import sys
import time
from pathlib import Path

from geotts_client import GeoTTSError, LocateOptions, Overloaded, SyncClient

OPTIONS = LocateOptions(n_parallel=2, deadline_s=60, include="none")


def main(folder: str, url: str = "http://127.0.0.1:8000") -> None:
    """Submit every photo, then print one line of JSON for each as it ends."""
    paths = sorted(Path(folder).glob("*.jpg"))
    if not paths:
        sys.exit(f"there is no *.jpg in {folder}")
    with SyncClient(url) as client:
        jobs = {}
        for path in paths:
            photo = path.read_bytes()
            while path not in jobs:
                try:
                    jobs[path] = client.submit(photo, OPTIONS, key=hashlib.sha256(photo).hexdigest())
                except Overloaded as busy:  # the service says when to come back
                    time.sleep(busy.retry_after_s)
        for path, job in jobs.items():
            while (status := client.status(job, wait_s=30)).status == "running":
                pass
            answer = status.answer
            found: dict[str, str | float | None] = {"photo": path.name, "status": status.status}
            if answer is not None:
                found |= {"lat": answer.lat, "lon": answer.lon, "country": answer.country}
            print(json.dumps(found))


if len(sys.argv) not in (2, 3):
    print("usage: python examples/locate_folder.py FOLDER [URL]", file=sys.stderr)
    sys.exit(2)
try:
    main(*sys.argv[1:])
except (GeoTTSError, OSError) as error:  # no service, a refusal, a file that cannot be read
    sys.exit(str(error))
