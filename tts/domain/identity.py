"""The identity of an installation, as its answers state it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tts.domain.abilities import Abilities
from tts.domain.request import LocateOptions


def _no_prompt_hash(_dialect: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Identity:
    """What this installation is, for `accepted` and for provenance. `remote_engines` are the hosts that get photos;
    `endpoint` is the address rollouts wait for, without secrets, and empty for an engine of our own. `notes` are what
    every answer has to say about this installation. `prompt_sha256_of` takes the name of a dialect and returns the
    hash of its fixed texts; a request may name another dialect than that of the installation.
    """

    version: str
    engine: str
    model: str
    dialect: str
    verifier: str
    providers: tuple[str, ...] = ()
    remote_engines: tuple[str, ...] = ()
    endpoint: str = ""
    abilities: Abilities = field(default_factory=Abilities)
    data_versions: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    prompt_sha256_of: Callable[[str], str] = _no_prompt_hash

    def dialect_of(self, options: LocateOptions) -> str:
        """The dialect that `accepted` states for a request: the one it asks for, or else that of the installation."""
        return options.dialect or self.dialect
