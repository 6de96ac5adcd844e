"""A recorded run replays bit for bit in another process, elsewhere, without network, keys or the recording's data."""

import asyncio
import os
import sys
from pathlib import Path

import orjson
import pytest
import yaml
from support.provider_server import answer_with_samples, config_for
from support.rude_server import rude_server

from deployments.config import AppArgs
from deployments.wiring.toolbox_assembly import make_tooling
from tts.config import TapeConfig, ToolsConfig
from tts.errors import ConfigError
from tts.toolkit.tape.file import read_tape

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
REQUESTS = 20


async def play(folder, tools, data_dir, **environment):
    """Run the requests in a process of its own, with a folder, a home and an environment of its own."""
    folder.mkdir()
    (folder / "config.yaml").write_text(
        yaml.safe_dump({"tools": tools.model_dump(mode="json", exclude_defaults=True), "data_dir": str(data_dir)})
    )
    command = [
        sys.executable,
        str(ROOT / "tests" / "support" / "tape_player.py"),
        "config.yaml",
        "out.jsonl",
        str(REQUESTS),
    ]
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "HOME": str(folder), **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()[-3000:]
    return (folder / "out.jsonl").read_bytes()


def linked_data(data_store, folder):
    """The built data under another path."""
    folder.mkdir()
    for path in data_store.root.iterdir():
        if path.is_dir():
            (folder / path.name).symlink_to(path)
    return folder


async def test_twenty_requests_recorded_in_one_process_replay_bit_for_bit_in_another(data_store, tmp_path):
    tape = tmp_path / "run.tape"
    async with rude_server(answer_with_samples("serper")) as server:
        recording = config_for(server, "serper", "offline").model_copy(
            update={"tape": TapeConfig(path=str(tape), mode="record"), "cache": f"sqlite:///{tmp_path}/cache.sqlite"}
        )
        recorded = await play(
            tmp_path / "here", recording, data_store.root, SERPER_API_KEY="a-key", PYTHONHASHSEED="1", TZ="UTC"
        )
        asked = len(server.seen)
    moved = tape.rename(tmp_path / "moved.tape")
    before = moved.read_bytes()
    replaying = recording.model_copy(update={"tape": TapeConfig(path=str(moved), mode="replay"), "cache": "memory:"})
    data_dir = linked_data(data_store, tmp_path / "data")
    replayed = await play(tmp_path / "there", replaying, data_dir, PYTHONHASHSEED="2", TZ="Asia/Tokyo")

    runs = [orjson.loads(line) for line in recorded.splitlines()]
    results = [r for run in runs for t in run["trajectories"] for turn in t["turns"] for r in turn["results"]]
    assert asked > 0, "no provider was asked: this shows nothing"
    assert len(runs) == REQUESTS
    assert len(results) >= 3 * REQUESTS
    assert read_tape(moved).rows
    assert replayed == recorded
    assert moved.read_bytes() == before
    assert len(server.seen) == asked


def test_a_replay_needs_no_key_a_replay_with_live_misses_does(data_store, tmp_path):
    keyed = ToolsConfig(providers=("serper", "offline"))
    replay = keyed.model_copy(update={"tape": TapeConfig(path=str(tmp_path / "t"), mode="replay")})
    assert not replay.needs_network
    assert make_tooling(AppArgs(tools=replay), {}).catalog.provider_clients == {}
    live = keyed.model_copy(update={"tape": TapeConfig(path=str(tmp_path / "t"), mode="replay", misses="live")})
    assert live.needs_network
    with pytest.raises(ConfigError, match="SERPER_API_KEY"):
        make_tooling(AppArgs(tools=live), {})
