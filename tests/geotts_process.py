"""The `geotts` command as users run it: a process of its own, without the keys of whoever runs the tests."""

import asyncio
import os
import sys
from pathlib import Path

KEYS = ("AMAP_API_KEY", "GOOGLE_MAPS_API_KEY", "SERPER_API_KEY", "TAVILY_API_KEY", "YDC_API_KEY", "BRAVE_API_KEY")


async def geotts(*arguments, **environment):
    """(exit code, stdout, stderr) of the command."""
    kept = {name: value for name, value in os.environ.items() if name not in KEYS}
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("geotts")), *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env={**kept, **environment},
    )  # fmt: skip
    try:
        out, told = await asyncio.wait_for(process.communicate(), 120)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, out.decode(), told.decode()
