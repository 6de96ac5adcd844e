"""Every block of the documentation is run by tests/cluster/test_docs_*.py, or says why it is not."""

import ast
import importlib
import os
import re
import shlex
import subprocess
import threading
import tomllib
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, HTTPServer

import click
import pytest
from markdown_it import MarkdownIt
from support.docs_blocks import REASONS, ROOT, RUN, Block, blocks_of, documents, reason_in
from support.docs_runner import Reader, serves

from deployments.cli import cli

BLOCKS = [block for path in documents() for block in blocks_of(path)]
_EXTRAS = re.compile(r"\bpip\s+install\s[^`\n]*?(?:geotts|\.)\[([\w\-, ]+)\]")
_INLINE = re.compile(r"`(?:[A-Z_]+=\S+ )?(geotts [^`]+)`")


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_is_run_or_says_why_not(block):
    if block.shown_only:
        assert block.shown_only.startswith(REASONS), f"{block}: {block.shown_only!r} is no reason"
        return
    assert block.language in RUN, (
        f"{block}: language {block.language!r} is not run; mark it `shown only`, or name its language"
    )
    for line in block.text.splitlines():
        assert not reason_in(line) or reason_in(line).startswith(REASONS), f"{block}: {line}"
    if block.language in ("bash", "console"):
        assert block.commands(), f"{block}: nothing of it is run"


MARKDOWN = [path for path in documents() if path.suffix == ".md"]


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: path.name)
def test_every_fence_is_found(path):
    """Whatever its characters: what a reader sees as code is one of the blocks."""
    fences = [token.content for token in MarkdownIt().parse(path.read_text()) if token.type == "fence"]
    assert [block.text.strip() for block in blocks_of(path)] == [text.strip() for text in fences]


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: path.name)
def test_no_code_hides_in_an_indented_block(path):
    """Those are not looked at: code stands between fences, where it is run or marked."""
    indented = [token.map for token in MarkdownIt().parse(path.read_text()) if token.type == "code_block"]
    assert indented == []


def test_the_documents_that_users_read_first_are_searched_for_blocks():
    files = {block.file for block in BLOCKS}
    assert {
        "README.md",
        "tts/data/samples/README.md",
        "docs/dialects.md",
        "ray_configs/local.yaml",
    } <= files
    assert {"ray_configs/profiles/generic.yaml", "examples/locate_stream.py", "geotts_client/README.md"} <= files


def test_every_file_of_the_examples_is_searched_for_blocks():
    files = {path for path in (ROOT / "examples").rglob("*") if path.suffix in (".py", ".md")}
    assert ROOT / "examples" / "extension" / "geotts_example" / "tool.py" in files
    assert files <= set(documents())


def test_the_plan_that_runs_anywhere_is_run_and_is_no_service():
    (block,) = [block for block in BLOCKS if block.file == "README.md" and "--plan" in block.text]
    (command,) = block.commands()
    assert "--plan" in command
    assert not block.shown_only
    assert not serves(command)
    assert serves("geotts serve --profile generic   # not a --plan")


def test_only_docker_commands_in_the_container_files_are_not_run():
    found = [block for block in BLOCKS if block.file in ("compose.yaml", "Dockerfile")]
    assert [block.file for block in found] == ["Dockerfile"] * 2 + ["compose.yaml"] * 3
    for block in found:
        assert block.shown_only == ("needs a container runtime" if "docker " in block.text else ""), block


def test_a_block_without_language_or_reason_is_found(tmp_path):
    path = tmp_path / "x.md"
    path.write_text("text\n\n```\nls\n```\n\n<!-- shown only: needs a GPU -->\n\n```bash\nnvidia-smi\n```\n")
    bare, marked = blocks_of(path, root=tmp_path)
    assert (bare.language, bare.shown_only, bare.line) == ("", "", 3)
    assert (marked.language, marked.shown_only) == ("bash", "needs a GPU")


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "python"], ids=str)
def test_code_imports_names_that_exist(block):
    """Also of code that is shown only. The rest of it is run where a service may be needed."""
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            missing = {alias.name for alias in node.names} - {*dir(module)}
            assert not missing, f"{block}: {node.module} has no {missing}"


def test_the_before_and_beside_commands_of_a_block_are_read_from_its_comments(tmp_path):
    path = tmp_path / "x.md"
    path.write_text("<!-- before: ls -->\n<!-- beside: geotts serve -->\n```bash\nls\n```\n\n```bash\nls\n```\n")
    marked, bare = blocks_of(path, root=tmp_path)
    assert (marked.before, marked.beside) == ("ls", "geotts serve")
    assert (bare.before, bare.beside) == ("", "")


def commands_of_example():
    """Commands of the example package, which are there once it is installed (tests/doors/test_extension_package.py)."""
    example = tomllib.loads((ROOT / "examples" / "extension" / "pyproject.toml").read_text())
    return {*example["project"]["entry-points"]["geotts.commands"]}


def inline_commands():
    for path in documents():
        for found in _INLINE.finditer(path.read_text()):
            if shlex.split(found[1])[1:2] not in [[name] for name in commands_of_example()]:
                yield pytest.param(found[1], id=f"{path.name}: {found[1][:60]}")


@pytest.mark.parametrize("text", list(inline_commands()))
def test_a_command_in_a_sentence_exists_with_its_options(text):
    """`geotts tools list | call` names two; capital words and dots stand for what the reader fills in."""
    first, *others = (shlex.split(part) for part in text.split(" | "))
    check(first)
    for other in others:
        check([*first[: depth(first) - 1], *other])


def extras_in(text):
    """Those that commands with pip name, in blocks and in sentences; a line may end inside of the command."""
    return {name for found in _EXTRAS.findall(text) for name in re.split(r",\s*", found)}


def test_extras_in_commands_exist():
    """In the documentation, and in the messages of programs."""
    there = {*tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]}
    packages = ("tts", "tools", "deployments", "geotts_client", "geotts_benchmarks")
    sources = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    named = {path: extras_in(path.read_text("utf-8")) for path in [*documents(), *sources]}
    assert {"vllm", "mcp", "scenes"} <= set().union(*named.values())
    assert {str(path.relative_to(ROOT)): extras - there for path, extras in named.items() if extras - there} == {}


def test_extras_are_read_from_commands():
    assert extras_in("`pip install 'geotts[x,y]'`, or `pip\ninstall ./geotts_client '.[z]'`; not list[int]") == {*"xyz"}


def depth(words):
    """How many words name the command."""
    command: click.Command = cli
    context = click.Context(cli)
    for number, word in enumerate(words[1:], 1):
        if not isinstance(command, click.Group) or (found := command.get_command(context, word)) is None:
            return number
        command = found
    return len(words)


def check(words):
    command: click.Command = cli
    context = click.Context(cli)
    for word in words[1:]:
        if isinstance(command, click.Group) and not word.startswith(("-", "…")) and not word.isupper():
            found = command.get_command(context, word.rstrip(","))
            assert found is not None, f"there is no command {word!r} in {words!r}"
            command = found
        elif word.startswith("--"):
            options = {"--help", *(option for parameter in command.params for option in parameter.opts)}
            assert word.partition("=")[0].rstrip(",;)") in options, f"{word!r} in {words!r}"


def test_make_targets_that_are_named_exist():
    named = {target for block in BLOCKS for target in re.findall(r"^make ([a-z-]+)", block.text, re.MULTILINE)} | {
        target for path in documents() for target in re.findall(r"`make ([a-z-]+)`", path.read_text())
    }
    assert {"demo", "test", "quick"} <= named
    for target in sorted(named):
        done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"make {target}: {done.stderr}"


class Here:
    """This machine."""

    def run(self, *command, **options):
        environment = {**os.environ, **options.pop("env", {})}
        return subprocess.run(
            list(map(str, command)), capture_output=True, text=True, check=False, env=environment, **options
        )


@pytest.mark.parametrize(
    ("status", "reply", "fails"),
    [
        (200, b"id: 1\nevent: answer\n\nid: 2\nevent: done\n\n", False),
        (200, b"id: 1\nevent: error\n\nid: 2\nevent: done\n\n", True),
        (422, b"{}", True),
        (503, b"{}", True),
    ],
)
def test_a_request_of_the_documentation_that_is_refused_or_fails_is_found(tmp_path, status, reply, fails):
    class Service(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        block = Block("x.md", 1, "bash", f"curl -N http://127.0.0.1:{server.server_port}/")
        reader = Reader(Here(), tmp_path, tmp_path)
        with pytest.raises(AssertionError) if fails else nullcontext():
            reader.run(block)
        server.shutdown()
