"""Pictures that an endpoint keeps under a name, so that later turns send the name only.

vLLM takes a `uuid` beside a picture and finds it again in its processor cache
(https://docs.vllm.ai/en/latest/features/multimodal_inputs/). The cache forgets what was not used for long, and replicas
behind one address have one each: a request with a name that is not known is refused, and sent again whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from tts.latest_entries import LatestEntries

_MAX_NAMES = 4096
_MAX_LOSSES = 3


class HeldPictures:
    """What the endpoint should still have. Gives up after three losses in a row."""

    def __init__(self) -> None:
        self._names: LatestEntries[str, None] = LatestEntries(_MAX_NAMES)
        self._n_losses = 0

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def remember_accepted(self, uploaded: Iterable[str], referenced: Iterable[str]) -> None:
        """The endpoint read a request with some pictures `uploaded` and others only `referenced` by name."""
        for name in (*uploaded, *referenced):
            self._names[name] = None
            self._n_losses = 0 if name in referenced else self._n_losses

    def forget_refused(self, referenced: Iterable[str]) -> bool:
        """The endpoint refused a request with these names. True when names are not worth it there."""
        for name in referenced:
            self._names.pop(name, None)
        self._n_losses += 1
        return self._n_losses >= _MAX_LOSSES


def picture_name(sha256: str, box: object, width: int, height: int, quality: int, resample: str) -> str:
    """The name of a picture: of its source and of all that is done to it, so that equal names are equal pictures."""
    done = f"{sha256} {box} {width}x{height} {quality} {resample}"
    return "geotts-" + hashlib.sha256(done.encode()).hexdigest()[:40]
