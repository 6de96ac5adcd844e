"""Names of files are text, whatever they look like; what is wrong with one photo is no other's trouble."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress

import pytest
from rich.console import Console
from support.basics import sign_bytes

from deployments.cli.inputs import Input
from deployments.cli.text_console import TextConsole, styled_text

pytestmark = pytest.mark.slow

ENGINE = ("--set", "engine={name: scripted, turns: 2, tokens_per_turn: 4}", "--set", "routing.method=fixed")
PROGRAM = "import sys; from deployments.cli import main; sys.argv[0] = 'geotts'; main()"
MARKUP = "[link=https:evil.example]x [red].jpg"
ESCAPES = "\x1b]8;;https:evil.example\x07click\x1b]8;;\x07.jpg"
LINK = re.compile(r"\x1b\]8;")


@pytest.fixture
def folder(tmp_path, data_store):
    for name in (MARKUP, ESCAPES, b"not-\xff-utf8.jpg".decode(errors="surrogateescape"), "[bold].jpg"):
        (tmp_path / name).write_bytes(b"no photo at all")
    (tmp_path / "good.jpg").write_bytes(sign_bytes("Rue de Rivoli"))
    (tmp_path / "zz [").mkdir()
    (tmp_path / "zz [" / "] last.jpg").write_bytes(sign_bytes("Place Bellecour"))  # together: a closing tag
    return tmp_path


def on_a_terminal(*command):
    """What a person at a terminal sees, and the exit code."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        seen = b""
        with suppress(OSError):  # EIO: the other end is closed
            while part := os.read(ours, 65536):
                seen += part
        os.close(ours)
    return seen.decode(errors="replace"), process.returncode


def test_every_photo_of_a_folder_of_hostile_names_is_answered_or_refused(folder):
    command = [sys.executable, "-c", PROGRAM, "locate", str(folder), "--json", "-n", "1", *ENGINE]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert len(replies) == 6, done.stderr
    assert sorted(os.path.basename(one["photo"]) for one in replies if "answer" in one) == ["] last.jpg", "good.jpg"]
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stderr


def test_no_name_becomes_a_link_or_an_order_to_the_terminal(folder):
    seen, code = on_a_terminal("locate", str(folder), "-n", "1", *ENGINE)
    assert code == 1
    assert not LINK.search(seen)
    assert "[link=https:evil.example]" in re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\s", "", seen)
    assert "Traceback" not in seen


def test_an_unexpected_failure_of_one_photo_does_not_stop_the_others(folder, monkeypatch):
    from click.testing import CliRunner

    from deployments.cli import cli

    read = Input.read

    def broken(self):
        if "bold" in self.label:
            raise ValueError("embedded null byte")
        return read(self)

    monkeypatch.setattr(Input, "read", broken)
    done = CliRunner().invoke(cli, ["locate", str(folder), "--json", "-n", "1", *ENGINE], standalone_mode=False)
    assert (done.exception, done.return_value) == (None, 1)
    assert sum("answer" in json.loads(line) for line in done.stdout.splitlines()) == 2


def test_the_console_prints_markup_and_emoji_codes_as_text():
    console = TextConsole()
    console.file = out = io.StringIO()
    console._force_terminal = True
    console.print(MARKUP, styled_text((ESCAPES, "bold"), " :smile:"))
    assert not LINK.search(out.getvalue())
    assert ":smile:" in out.getvalue()
    assert isinstance(console, Console)
