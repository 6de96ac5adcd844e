"""The `geotts` command as users run it: a process of its own, without the keys of whoever runs the tests."""

import asyncio
import os
import sys
from pathlib import Path

from tools.provider_lookup import PROVIDERS

KEYS = {provider.key_variable for provider in PROVIDERS.values()}


async def geotts(*arguments, limit_s=120, **environment):
    """(exit code, stdout, stderr) of the command of this checkout."""
    return await run_geotts(
        Path(sys.executable).with_name("geotts"), os.environ, None, *arguments, limit_s=limit_s, **environment
    )


async def run_geotts(program, variables, folder, *arguments, limit_s=120, **environment):
    """(exit code, stdout, stderr) of a `geotts` program in a folder, with these variables and `environment` on top."""
    kept = {name: value for name, value in variables.items() if name not in KEYS}
    process = await asyncio.create_subprocess_exec(
        str(program), *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env={**kept, **environment}, cwd=folder,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(process.communicate(), limit_s)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, out.decode(), err.decode()
