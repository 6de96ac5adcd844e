"""The endpoint of a profile as a process: `python endpoint_process.py PORT PROFILE` says "ready" and serves.

On Ollama's port it lists, refuses and streams as Ollama does.
"""

import asyncio
import sys

from support.chat_servers import BY_NAME, play_server
from support.chat_speakers import speaking
from support.endpoint import serving
from support.profile_scripts import play_of

SERVERS = {11434: BY_NAME["ollama"]}


async def main(port: int, profile: str) -> None:
    server = SERVERS.get(port)
    play = play_server(server, speaking(profile)) if server else play_of(profile)
    async with serving(play, server.pages if server else None, port=port):
        print("ready", flush=True)
        await asyncio.Event().wait()


asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
