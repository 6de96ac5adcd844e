"""`geotts tape` shows, converts and exports a tape."""

from click.testing import CliRunner
from support.tape_runs import run

from deployments.cli.tape import command
from deployments.config import AppArgs
from deployments.wiring.toolbox_assembly import make_tooling
from tts.toolkit.tape.file import read_tape
from tts.toolkit.tape.tape_toolboxes import RecordingToolbox


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
