"""One photo with its truth. Nothing that reaches a model or a tool carries the name of the file it came from.

File names of public data sets hold owner, number and sometimes the place (SpotAgent, evaluation protocol), so a sample
is known by an id that is random in its source key and stable in a seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from tts.domain.geo import LatLon
from tts.domain.value import Value


class Truth(Value):
    """Where a photo was taken, in WGS-84, and how exactly that is known."""

    point: LatLon
    accuracy_radius_m: Annotated[float, Field(ge=0)] = 0.0
    country: str = ""
    country_code: str = ""
    city: str = ""

    @property
    def slack_km(self) -> float:
        """`accuracy_radius_m` in km: an error within it is a hit at every threshold."""
        return self.accuracy_radius_m / 1000.0


@dataclass(frozen=True, slots=True)
class Sample:
    """`load` reads the encoded photo; `key` names it in its data set and stays here and in the run's records."""

    id: str
    load: Callable[[], bytes]
    truth: Truth
    tags: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row or a photo that makes no sample. `reason` follows a count: "pictures named in … are not under …".

    `is_expected`: the data set leaves such rows out by its nature, such as photos without EXIF where no table is.
    """

    key: str
    reason: str
    is_expected: bool = False


def sample_id(dataset: str, key: str, seed: int) -> str:
    """Sixteen hex digits: stable for key and seed, silent about the key."""
    digest = hashlib.blake2b(f"{dataset}\x00{key}".encode(), digest_size=8, key=seed.to_bytes(8, "big", signed=True))
    return "s_" + digest.hexdigest()


def in_random_order(samples: Iterable[Sample]) -> list[Sample]:
    """By id, which is random and stable: the first k are a fair draw, and every run sees the same order."""
    return sorted(samples, key=lambda sample: sample.id)
