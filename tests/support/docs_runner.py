"""Runs blocks of the documentation the way a reader does: in a folder that looks like a checkout, in their order.

Commands that serve are started, asked about a photo, and stopped with Ctrl-C. Endpoints that a command names on
loopback are played (`endpoint.py`), with the turns of the profile that the command names.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import yaml

from geotts_benchmarks.service_time import fake_endpoint
from support.docs_blocks import ROOT, Block, blocks_of
from support.ray_nodes import stop_family
from tts.package_files import SAMPLES

BIN = Path(sys.executable).parent
SERVICE = "http://127.0.0.1:8000"
_FAKE_ENDPOINT = fake_endpoint.__name__
_SERVE_COMMAND = re.compile(rf"(^|\s)(\S*geotts serve|serve run|python -m {re.escape(_FAKE_ENDPOINT)})\b")
_ENDPOINT_URL = re.compile(r"http://127\.0\.0\.1:(\d+)/v1")
_PROFILE_OPTION = re.compile(r"--profile (\w+)")
_ELIDED_STRING = re.compile(r'"[^"]*…"')
_API_KEY = re.compile(r"\bgt_[\w-]{20,}")
_DURATION = re.compile(r"\d+\.\d s\b")
_FAILED_EVENT = re.compile(r'^event: error$|"type":"error"', re.MULTILINE)
_START_TIMEOUT_S = 300  # beside other work a start takes minutes
_COMMAND_TIMEOUT_S = 300
_KEY_VARIABLES = ("GOOGLE_MAPS_API_KEY", "AMAP_API_KEY", "SERPER_API_KEY", "GOOGLE_VISION_API_KEY")
NO_KEYS = dict.fromkeys(_KEY_VARIABLES, "none")  # they open nothing


class Place(Protocol):
    """Where processes run: this machine, or one of `namespaces.machines`."""

    def start(self, *command: str | Path, **options: Any) -> subprocess.Popen[Any]: ...
    def run(self, *command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]: ...


class Reader:
    """Someone who types what the documentation says, in `folder`."""

    def __init__(self, place: Place, folder: Path, fixtures: Path) -> None:
        self.place = place
        self.folder = folder
        self._served_commands: set[str] = set()
        self._played_ports: set[str] = set()  # ports
        for name in ("examples", "ray_configs", "scripts", "tts"):
            (folder / name).symlink_to(ROOT / name)
        (folder / ".venv").mkdir()
        (folder / ".venv" / "bin").symlink_to(BIN)
        (folder / "photo.jpg").write_bytes((SAMPLES / "town-sign-latin.jpg").read_bytes())
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        (folder / ".curlrc").write_text("fail-with-body\n")  # without it, curl ends with 0 for errors
        self.environment = {
            "PATH": path,
            "CURL_HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            "FIXTURES": str(fixtures),
            "COLUMNS": "80",
            **NO_KEYS,
        }

    def run(self, block: Block) -> None:
        """Run one block; an AssertionError says what went wrong."""
        if block.before:
            self._run_shell(block.before)
        how = {
            "bash": self._run_bash,
            "console": self._run_console,
            "python": self._run_python,
            "json": self._post_json,
        }
        with self._serve_beside(block.beside):
            how[block.language](block)

    @contextmanager
    def _serve_beside(self, command: str) -> Iterator[None]:
        """While a command serves, where the block wants one."""
        if not command:
            yield
            return
        with self.endpoints(command), self.serving(command):
            yield

    def _run_bash(self, block: Block) -> None:
        for command in block.commands():
            with self.endpoints(command):
                if serves(command):
                    self._serve_once(command)
                else:
                    self._run_shell(command)

    def _run_console(self, block: Block) -> None:
        """Every line of output that is shown comes, in this order; times may differ."""
        (command,) = block.commands()
        output = self._run_shell(f"{command} 2>&1")
        actual = iter([_without_durations(got) for got in output.splitlines()])
        for line in block.text.splitlines()[1:]:
            assert _without_durations(line) in actual, f"{block}: not printed, or not in this order: {line}\n{output}"

    def _run_python(self, block: Block) -> None:
        script = self.folder / "block.py"
        script.write_text(block.text)
        self._run_shell("python -W error block.py")

    def _post_json(self, block: Block) -> None:
        """A request body. What is elided in it is the photo."""
        photo = subprocess.run(["base64", "-w0", self.folder / "photo.jpg"], capture_output=True, text=True, check=True)
        body = _ELIDED_STRING.sub(lambda _: json.dumps(photo.stdout), block.text)
        (self.folder / "body.json").write_text(body)
        path = "check" if '"claim"' in body else "locate"
        if '"image"' not in body:  # it goes on from a request that had the photo
            path = f"locate/{self._locate_photo()}/continue"
        self._run_shell(f"curl -sS -H 'Content-Type: application/json' -d @body.json {SERVICE}/{path}")

    def _locate_photo(self) -> str:
        """The id of a request about the photo."""
        reply = self._run_shell(f"curl -sS -F image=@photo.jpg {SERVICE}/locate")
        return str(json.loads(reply)["request_id"])

    def _run_shell(self, command: str) -> str:
        """Its output. A key that it shows is used from then on."""
        done = self.place.run(
            "bash", "-euo", "pipefail", "-c", command, cwd=self.folder, env=self.environment, timeout=_COMMAND_TIMEOUT_S
        )
        assert done.returncode == 0, f"{command}\nended with {done.returncode}:\n{done.stdout}{done.stderr}"
        assert "curl" not in command or not _FAILED_EVENT.search(done.stdout), f"{command}\n{done.stdout}"
        if key := _API_KEY.search(done.stderr):
            self.environment["GEOTTS_API_KEY"] = key[0]
        return done.stdout + done.stderr

    def _serve_once(self, command: str) -> None:
        """Once for each command: documents repeat some, with another comment behind them."""
        words = " ".join(shlex.split(command, comments=True))
        if words in self._served_commands:
            return
        with self.serving(command):
            if _FAKE_ENDPOINT not in command:
                self.locate()
        self._served_commands.add(words)

    def locate(self) -> None:
        """A photo through the service: the command succeeds."""
        self._run_shell(f"geotts locate photo.jpg --json --url {SERVICE}")

    @contextmanager
    def serving(self, command: str) -> Iterator[None]:
        """A command that serves until Ctrl-C, while it serves."""
        output_file = self.folder / "serve_output.txt"
        with output_file.open("w") as output:
            process = self.place.start(
                "bash", "-euc", f"exec {command}" if "=" not in command.split(maxsplit=1)[0] else f"exec env {command}",
                cwd=self.folder, env=self.environment, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
            try:
                self._wait_until_ready(command, process, output_file)
                yield
                process.send_signal(signal.SIGINT)
                code = process.wait(90)
                assert code == 0 or "geotts serve" not in command, (
                    f"{command}\nended with {code}:\n{output_file.read_text()}"
                )
            finally:
                stop_family(process)

    def _wait_until_ready(self, command: str, process: subprocess.Popen[Any], output_file: Path) -> None:
        port = re.search(r"--port (\d+)", command)
        ask = f"http://127.0.0.1:{port[1]}/v1/models" if port and _FAKE_ENDPOINT in command else f"{SERVICE}/readyz"
        give_up = time.monotonic() + _START_TIMEOUT_S
        while self.place.run("curl", "-fsS", "-o", "/dev/null", ask).returncode != 0:
            assert process.poll() is None, f"{command}\nended:\n{output_file.read_text()}"
            assert time.monotonic() < give_up, f"{command}\nis not ready:\n{output_file.read_text()}"
            time.sleep(0.5)

    @contextmanager
    def endpoints(self, text: str) -> Iterator[None]:
        """What answers at the addresses of engines that a text names, as long as the block runs."""
        ports = sorted(set(_ENDPOINT_URL.findall(text)) - {"8000"} - self._played_ports)
        self._played_ports.update(ports)
        profile = _PROFILE_OPTION.search(text)
        started = [
            self.place.start(
                sys.executable, ROOT / "tests/support/endpoint_process.py", port, profile[1] if profile else "generic",
                env={**self.environment, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}, stdout=subprocess.PIPE,
            )
            for port in ports
        ]  # fmt: skip
        try:
            for process in started:
                assert process.stdout is not None
                assert process.stdout.readline() == b"ready\n"
            yield
        finally:
            self._played_ports.difference_update(ports)
            for process in started:
                stop_family(process)
                if process.stdout is not None:
                    process.stdout.close()


def serves(command: str) -> bool:
    """Whether it runs until it is stopped; with `--plan` it prints only what it would serve."""
    return bool(_SERVE_COMMAND.search(command)) and "--plan" not in shlex.split(command, comments=True)


def _without_durations(line: str) -> str:
    return " ".join(_DURATION.sub("N s", line).split())


def deploy_config(reader: Reader, block: Block) -> None:
    """A tree of configuration goes through `serve deploy` on a running Ray, and a photo is located.

    One that names an application is deployed with the file shown above it, of which it is a part.
    """
    if block.before:
        reader._run_shell(block.before)
    part = yaml.safe_load(block.text)
    shown = _configuration_above(block) if "applications" in part else block
    tree = _serve_file({"config_version": 1, **yaml.safe_load(shown.text)})
    if shown is not block:
        tree["applications"][0] |= part["applications"][0]
    (reader.folder / "deployed.yaml").write_text(yaml.safe_dump(tree))
    with reader.endpoints(shown.text):
        try:
            reader._run_shell("serve deploy deployed.yaml")
            _wait_until_running(reader, block)
            if shown is not block:
                _wait_until_drained(reader, block)
            reader.locate()
        finally:
            with suppress(AssertionError):
                reader._run_shell("serve shutdown -y")


def _configuration_above(block: Block) -> Block:
    return [one for one in blocks_of(ROOT / block.file) if one.language == "yaml" and one.line < block.line][-1]


def _serve_file(args: dict[str, Any]) -> dict[str, Any]:
    address = {"host": args.get("gateway", {}).get("host", "127.0.0.1"), "port": 8000}
    application = {"name": "geotts", "route_prefix": "/", "import_path": "deployments.app:build", "args": args}
    return {"http_options": address, "applications": [application]}


def _wait_until_running(reader: Reader, block: Block) -> None:
    give_up = time.monotonic() + _START_TIMEOUT_S
    while True:
        found = yaml.safe_load(reader._run_shell("serve status"))["applications"]["geotts"]
        if found["status"] == "RUNNING":
            return
        assert found["status"] in ("NOT_STARTED", "DEPLOYING"), f"{block}: {found['message']}"
        assert time.monotonic() < give_up, f"{block}: {found}"
        time.sleep(1)


def _wait_until_drained(reader: Reader, block: Block) -> None:
    """`/readyz` says of every address that the block drains that it is being drained; it asks every 5 s."""
    drained = [f"{found[0]} is being drained" for found in _ENDPOINT_URL.finditer(block.text)]
    assert drained, block
    give_up = time.monotonic() + 30
    while any(state not in (reply := reader._run_shell(f"curl -sS {SERVICE}/readyz")) for state in drained):
        assert time.monotonic() < give_up, f"{block}: {reply}"
        time.sleep(0.5)
