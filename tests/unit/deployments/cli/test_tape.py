"""`geotts tape` shows, converts and exports a tape."""

import asyncio

from click.testing import CliRunner
from support.basics import a_context

from deployments.cli.tape import command
from deployments.config import AppArgs
from deployments.wiring.toolbox_assembly import make_tooling
from tts.domain.tooling import ToolCall
from tts.ports.toolbox import ToolContext
from tts.toolkit.tape.file import read_tape
from tts.toolkit.tape.tape_toolboxes import RecordingToolbox


def calls_of_run(i):
    """Calls of a run: places, maps with pictures, searches of one and several queries, mistakes."""
    kinds = [
        ("poi_keyword_search", {"query": f"Coimbra {i % 3}"}),
        ("web_search", {"query": [f"bakery {i}", "tram stop"]}),
        ("web_search", {"query": f"bakery {i}"}),
        ("static_map", {"latitude": 40.0 + i % 2, "longitude": -8.0, "zoom": 6}),
        ("poi_detail", {"poi_id": "gn:0"}),
        ("country_at", {"latitude": "north", "longitude": 0}),
        ("no_such_tool", {}),
    ]
    return [ToolCall(id=f"r{i}c{j}", name=name, arguments=arguments) for j, (name, arguments) in enumerate(kinds)]


async def run(toolbox, requests=20):
    """Every outcome of a run of many requests side by side, as bytes."""

    async def one(call, i):
        context = ToolContext(a_context().model_copy(update={"id": f"loc_{i}"}), photo_sha256=(f"photo{i % 4}",))
        outcome = await toolbox.call(call, context)
        return outcome.result.json_bytes(), outcome.attachments

    return await asyncio.gather(*(one(call, i) for i in range(requests) for call in calls_of_run(i)))


async def test_geotts_tape_shows_converts_and_exports_a_tape(data_store, tmp_path):
    path = tmp_path / "run.tape"
    recorder = RecordingToolbox(make_tooling(AppArgs(), {}).toolbox, path)
    await run(recorder, 2)
    shown = CliRunner().invoke(command, ["show", str(path)])
    assert '"static_map": 2' in shown.output
    assert CliRunner().invoke(command, ["convert", str(path), str(tmp_path / "run.parquet")]).exit_code == 0
    assert read_tape(tmp_path / "run.parquet") == read_tape(path)
    assert CliRunner().invoke(command, ["export", str(path), str(tmp_path / "cache")]).exit_code == 0
    assert '"texts":0' in CliRunner().invoke(command, ["check", str(tmp_path / "cache")]).output
