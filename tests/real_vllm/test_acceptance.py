"""`geotts accept` as a process of its own, with vLLM inside it and a tiny model that writes random words."""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress

import psutil
import pytest

pytestmark = pytest.mark.timeout(420)


def processes_of(group):
    """Processes of a group that still run."""
    found = []
    for process in psutil.process_iter(["status"]):
        with suppress(ProcessLookupError):
            if process.info["status"] != psutil.STATUS_ZOMBIE and os.getpgid(process.pid) == group:
                found.append(process.pid)
    return found


@pytest.fixture
async def accepted(tiny_qwen3, tiny_args, data_store, tmp_path):
    """(exit code, the last line of stdout, stderr) of the run."""
    settings = {
        "engine": {"name": "vllm", "model": str(tiny_qwen3), "load_format": "dummy", **tiny_args},
        "routing.method": "fixed",
        "dialect_settings.turn_tokens": 24,
        "limits.max_turns": 3,
    }
    options = [word for name, value in settings.items() for word in ("--set", f"{name}={json.dumps(value)}")]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "from deployments.cli import main; main()", "accept", "-n", "2", "--json", *options,
        cwd=tmp_path, env={**os.environ, "GEOTTS_CALIBRATIONS": str(tmp_path / "calibrations")},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(process.communicate(), 400)
        yield process.returncode, (out.decode().splitlines() or [""])[-1], err.decode()
        async with asyncio.timeout(20):
            while processes_of(process.pid):  # noqa: ASYNC110  the engine core is another process
                await asyncio.sleep(0.1)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


async def test_geotts_accept_runs_to_the_end_and_finds_that_turns_are_cut(accepted):
    code, out, err = accepted
    assert code == 3, err[-3000:]
    found = json.loads(out)
    assert (found["photos"], found["rollouts"], found["left"]) == (10, 2, 0)
    cut = found["faults"]["cut_turns"]
    assert cut["of"] >= 20
    assert cut["percent"]["low"] > 50
    about = {finding["about"]: finding for finding in found["findings"]}
    assert "dialect_settings.turn_tokens" in about["cut_turns"]["change"]
    assert found["calibration"]["state"] == "transferred"
