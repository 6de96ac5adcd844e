"""The identity of an installation, as its answers state it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tts.domain.abilities import Abilities
from tts.domain.request import LocateOptions


@dataclass(frozen=True, slots=True)
class Identity:
    """What this installation is, for `accepted` and for provenance. `remote_engines` are the hosts that get photos;
    `endpoint` is the address rollouts wait for, without secrets, and empty for an engine of our own. `notes` are what
    every answer has to say about this installation.
    """

    version: str
    engine: str
    model: str
    dialect: str
    verifier: str
    prompt_sha256: str = ""
    providers: tuple[str, ...] = ()
    remote_engines: tuple[str, ...] = ()
    endpoint: str = ""
    abilities: Abilities = field(default_factory=Abilities)
    data_versions: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def dialect_of(self, options: LocateOptions) -> str:
        """The dialect that `accepted` states for a request: the one it asks for, or else that of the installation."""
        return options.dialect or self.dialect

    def prompt_sha256_of(self, dialect: str) -> str:
        """The hash of the fixed texts of a dialect; empty for one that only a request named."""
        return self.prompt_sha256 if dialect == self.dialect else ""
