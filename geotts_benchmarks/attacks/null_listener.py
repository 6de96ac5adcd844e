"""A server that does nothing, for comparison: `python -m geotts_benchmarks.attacks.null_listener PORT SECONDS`.

It reads a request with a declared length, waits as long as the engine of the service takes, and replies. The effect of
an attack on its callers is the effect on the machine.
"""

from __future__ import annotations

import asyncio
import re
import resource
import sys

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"


async def _serve(port: int, engine_s: float) -> None:
    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                found = _LENGTH.search(head)
                if found is not None:
                    await reader.readexactly(int(found[1]))
                await asyncio.sleep(engine_s)
                writer.write(_REPLY)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve_one, "127.0.0.1", port, backlog=2048)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    asyncio.run(_serve(int(sys.argv[1]), float(sys.argv[2])))
