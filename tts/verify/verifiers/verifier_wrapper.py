"""What every verifier in front of another does: it holds the other, and closes it."""

from __future__ import annotations

from dataclasses import dataclass

from tts.ports.closable import close_each
from tts.ports.verification import Verifier


@dataclass(frozen=True, eq=False)
class VerifierWrapper:
    """Stands in front of another verifier. A subclass has `verify`."""

    verifier: Verifier

    async def aclose(self) -> None:
        """Close the connections of the other."""
        await close_each(self.verifier)
