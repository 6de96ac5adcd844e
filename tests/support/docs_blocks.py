"""The commands and code of the documentation: fenced blocks of Markdown, commands in headers of configurations
(`compose.yaml` and the `Dockerfile` are two), and in docstrings of examples. Each is run as it is written, or says why
it is not:

    <!-- shown only: needs a GPU -->        above a block
    geotts serve …   # shown only: needs a GPU      behind one command

`<!-- before: mkdir prompts -->` above a block is run first: what a reader has and a test has not.
`<!-- beside: geotts serve … -->` serves while the block runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
REASONS = (
    "needs a GPU",
    "needs several GPUs",
    "needs a container runtime",
    "needs Kubernetes",
    "needs a key",
    "needs another server",
    "needs your copy of the authors' repository",
    "needs the network",
    "needs the data set",
    "needs your own",
    "takes long",
    "make targets",
    "a make target; ",
    "ends with 1",
    "a drawing",
)
RUN = ("bash", "console", "python", "yaml", "json")
_FENCE = re.compile(r"^(\s*)```(.*)$")
_COMMENT = re.compile(r"^<!-- (shown only|before|beside): (.*?) -->$", re.DOTALL)
_LINE_MARK = re.compile(r"#.*\bshown only: (.+)$")
_HEADER_COMMAND = re.compile(r"^# {3,}(\S.*)$")
_USAGE = re.compile(r"^python examples/\S.*$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block, where it stands, and what its comments say. `line` counts from 1."""

    file: str
    line: int
    language: str
    text: str
    shown_only: str = ""
    before: str = ""
    beside: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def commands(self) -> list[str]:
        """Shell commands that are run: continued lines joined, comments and marked ones left out."""
        lines = self.text.replace("\\\n", " ").splitlines()
        if self.language == "console":
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        return [line for line in lines if line.strip() and not line.lstrip().startswith("#") and not reason_in(line)]


def reason_in(command: str) -> str:
    """Why a single command is shown only; empty when it is run."""
    found = _LINE_MARK.search(command)
    return found[1].strip() if found else ""


def documents() -> list[Path]:
    """Every file whose commands and code a reader may try."""
    markdown = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("examples/**/*.md"),
        *ROOT.glob("tts/data/samples/*.md"),
        *ROOT.glob("geotts_client/*.md"),
    ]
    headers = [*ROOT.glob("ray_configs/**/*.yaml"), ROOT / "compose.yaml", ROOT / "Dockerfile"]
    others = [*headers, *ROOT.glob("examples/**/*.py")]
    return sorted(path for path in [*markdown, *others] if path.name != "CHANGELOG.md")


def blocks_of(path: Path, root: Path = ROOT) -> list[Block]:
    """The blocks of one document below `root`."""
    reader = {
        ".md": _blocks_of_markdown,
        ".yaml": _blocks_of_header,
        "": _blocks_of_header,
        ".py": _blocks_of_docstring,
    }[path.suffix]
    return list(reader(str(path.relative_to(root)), path.read_text()))


def _blocks_of_markdown(file: str, text: str) -> Iterator[Block]:
    lines = text.splitlines()
    number = 0
    comments: dict[str, str] = {}
    while number < len(lines):
        line = lines[number]
        if line.startswith("<!--"):
            end = next(i for i in range(number, len(lines)) if lines[i].rstrip().endswith("-->"))
            if comment := _COMMENT.match("\n".join(lines[number : end + 1]).strip()):
                comments[comment[1]] = comment[2]
            number = end + 1
        elif fence := _FENCE.match(line):
            end = next(i for i in range(number + 1, len(lines)) if lines[i].strip() == "```")
            body = "\n".join(part.removeprefix(fence[1]) for part in lines[number + 1 : end])
            marks = {name.replace(" ", "_"): text for name, text in comments.items()}
            yield Block(file, number + 1, fence[2].strip(), body, **marks)
            comments, number = {}, end + 1
        else:
            comments = comments if not line.strip() else {}
            number += 1


def _blocks_of_header(file: str, text: str) -> Iterator[Block]:
    """Commands in the comment at the top of a configuration are indented by three spaces."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("#"):
            return
        if command := _HEADER_COMMAND.match(line):
            yield Block(file, number, "bash", command[1], shown_only=reason_in(command[1]))


def _blocks_of_docstring(file: str, text: str) -> Iterator[Block]:
    for found in _USAGE.finditer(text):
        yield Block(file, text[: found.start()].count("\n") + 1, "bash", found[0])
