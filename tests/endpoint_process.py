"""The endpoint of a profile as a process: `python endpoint_process.py PORT PROFILE` says "ready" and serves."""

import asyncio
import sys

from endpoint import serving
from plays import play_of


async def main(port: int, profile: str) -> None:
    async with serving(play_of(profile), port=port):
        print("ready", flush=True)
        await asyncio.Event().wait()


asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
