"""Locate a folder of photos as jobs that survive this program: run it again and nothing is done twice.

python examples/locate_folder.py FOLDER [http://127.0.0.1:8000] > found.jsonl
"""

import hashlib
import json
import sys
import time
from pathlib import Path

from tts.api.sync_client import SyncClient
from tts.domain.request import LocateOptions
from tts.errors import Overloaded

OPTIONS = LocateOptions(n_parallel=2, deadline_s=60, include="none")


def main(folder: str, url: str = "http://127.0.0.1:8000") -> None:
    with SyncClient(url) as client:
        jobs = {}
        for path in sorted(Path(folder).glob("*.jpg")):
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
            found = {"photo": path.name, "status": status.status}
            if answer is not None:
                found |= {"lat": answer.lat, "lon": answer.lon, "country": answer.country}
            print(json.dumps(found))


main(*sys.argv[1:])
