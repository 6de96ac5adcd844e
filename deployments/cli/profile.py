"""`geotts profile`: lists the profiles, and imports the authors' texts for profiles that are served as released."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from deployments.cli.console import STDERR
from deployments.cli.shared_options import EXISTING_FILE
from tts.dialects import DIALECTS
from tts.dialects.released.imported_texts import TEMPLATE_FILE, ImportedTexts, user_profiles
from tts.dialects.released.importing import IMPORTERS
from tts.dialects.released.importing.checkout import commit_of, licence_of
from tts.dialects.released.importing.known_texts import KNOWN_COMMITS, KNOWN_TEXTS
from tts.errors import ConfigError
from tts.profiles import load_profile, profile_names


@click.group()
def command() -> None:
    """List the profiles, or import the prompts that the authors of a published model use."""


@command.command("list")
def list_profiles() -> None:
    """List the profiles, one on each line."""
    for name in profile_names():
        click.echo(f"{name}\t{load_profile(name).summary}")


@command.command("import")
@click.argument("system")
@click.argument("checkout", type=click.Path(path_type=Path, exists=True, file_okay=False), required=False)
@click.option("--system-text", type=EXISTING_FILE, help="File with the system prompt.")
@click.option("--task-text", type=EXISTING_FILE, help="File with the text that goes to the model with the photo.")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write to, instead of your profile folder.",
)
def import_texts(
    system: str, checkout: Path | None, system_text: Path | None, task_text: Path | None, folder: Path | None
) -> None:
    """Read the authors' prompts, tool descriptions and texts into your profile folder.

    SYSTEM is thinking-with-map, reverse, geoagent or geovista, and CHECKOUT is your copy of the authors' repository.
    GeoTTS reads it and runs none of its code. For any other dialect, give the prompts of its paper as text files.

    `geotts serve --profile SYSTEM` uses the imported texts. The licence of the repository covers them.
    """
    name = system.replace("-", "_")
    if name not in DIALECTS:
        raise ConfigError(f"there is no system {system!r}; there are: {', '.join(sorted(DIALECTS))}")
    target = (folder or user_profiles()) / name
    if checkout is None:
        _write_texts(name, {"": _texts_from_files(system_text, task_text)}, target, {"source": "text files"})
        return
    if name not in IMPORTERS:
        known = ", ".join(sorted(found.replace("_", "-") for found in IMPORTERS))
        raise ConfigError(
            f"the prompts of {system} cannot be read from a repository, only those of {known}: give --system-text and "
            "--task-text"
        )
    commit, licence = commit_of(checkout), licence_of(checkout)
    _print_text(f"commit   {commit or 'unknown'}{_commit_note(name, commit)}")
    _print_text(f"licence  {licence or 'none stated: ask the authors before you distribute the texts'}")
    about = {"source": str(checkout.resolve()), "commit": commit, "licence": licence}
    _write_texts(name, IMPORTERS[name](checkout), target, about)


def _write_texts(system: str, found: Mapping[str, ImportedTexts], target: Path, about: Mapping[str, str]) -> None:
    """Write the texts of each released loop to a folder of its own, with a list of what they are."""
    hashes: dict[str, dict[str, str]] = {}
    for path, texts in found.items():
        folder = target / path if path else target
        texts.write(folder)
        if texts.chat_template:
            _print_text(
                f"a chat template is in {folder / TEMPLATE_FILE}: for `vllm serve --chat-template`, if you want it"
            )
        hashes[path or "texts"] = texts.hashes()
        _compare_hashes(f"{system}/{path}".rstrip("/"), texts.hashes())
    manifest = json.dumps({**about, "sha256": hashes}, ensure_ascii=False, indent=2)
    (target / "imported.json").write_text(manifest + "\n", encoding="utf-8")
    click.echo(str(target))


def _compare_hashes(loop: str, hashes: Mapping[str, str]) -> None:
    """Say which texts are those that were published."""
    known = KNOWN_TEXTS.get(loop)
    if known is None:
        _print_text(f"! {loop}: no published texts are known to compare with")
        return
    for name, sha256 in hashes.items():
        same = known.get(name) == sha256
        _print_text(f"{'✓' if same else '!'} {loop} {name}{'' if same else ': differs from the published text'}")
    for name in known.keys() - hashes.keys():
        _print_text(f"! {loop} {name}: not found; GeoTTS uses its own text")


def _commit_note(system: str, commit: str) -> str:
    published = KNOWN_COMMITS.get(system, "")
    return "" if not published or commit == published else f" (the rules follow {published[:12]})"


def _texts_from_files(system_text: Path | None, task_text: Path | None) -> ImportedTexts:
    if system_text is None and task_text is None:
        raise ConfigError("give a checkout of the authors' repository, or --system-text and --task-text")
    return ImportedTexts(system=_read_text(system_text), task=_read_text(task_text))


def _read_text(path: Path | None) -> str:
    try:
        return "" if path is None else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}") from error


def _print_text(text: str) -> None:
    STDERR.print(f"  {text}", soft_wrap=True, markup=False, highlight=False)
