"""A process that writes tool results as fast as it can and says each key once it is kept; it is there to be killed."""

PROGRAM = """
import asyncio, sys, time
from pathlib import Path
from tts.ports.toolbox import Attachment
from tts.toolkit.broker.cache_entry import Entry
from tts.toolkit.broker.sqlite_store import SqliteStore
from tts.toolkit.spec import Observation

async def main():
    store = SqliteStore(Path(sys.argv[1]))
    picture = Attachment(sha256="0" * 64, media_type="image/png", data=bytes(20000))
    for i in range(1000000):
        seen = Observation(text=f"result {i}", attachments=(picture,))
        await store.put(f"key {i}", Entry(time.time(), 3600.0, 0.0, "", observation=seen))
        print(f"key {i}", flush=True)

asyncio.run(main())
"""
