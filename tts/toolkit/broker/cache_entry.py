"""A cache entry: the observation or the refusal of a call, its time, and how long it is valid.

On disk and on the wire an entry is a length, a JSON head and the bytes of its pictures. An entry of another schema
version is ignored, so a new release starts with an empty cache.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from tts.domain.tooling import Fact, ImageRef
from tts.errors import ToolError, ToolErrorKind
from tts.ports.toolbox import Attachment
from tts.toolkit.spec import Observation

SCHEMA_VERSION = 1
_LENGTH = struct.Struct(">I")
_FACTS: TypeAdapter[tuple[Fact, ...]] = TypeAdapter(tuple[Fact, ...])
_IMAGES: TypeAdapter[tuple[ImageRef, ...]] = TypeAdapter(tuple[ImageRef, ...])


@dataclass(frozen=True, slots=True)
class Entry:
    """A result as a store keeps it: exactly one of `observation` and `refusal`.

    Attributes:
        stored_at: when it was stored, in seconds since the epoch.
        ttl_s: seconds for which it answers calls.
        stale_s: seconds more for which an observation is used while the provider fails.
        retrieved_at: when the provider answered, in UTC (RFC 3339).
        observation: what the tool returned.
        refusal: the kind and the detail of the tool's error.
        verbatim: whether the model reads the detail of the refusal as it is.
        photos: SHA-256 of the photos to which the result belongs.
    """

    stored_at: float
    ttl_s: float
    stale_s: float
    retrieved_at: str
    observation: Observation | None = None
    refusal: tuple[ToolErrorKind, str] | None = None
    verbatim: bool = False
    photos: tuple[str, ...] = ()

    def is_fresh(self, now: float) -> bool:
        """Tell whether the entry answers a call as it is.

        Args:
            now: seconds since the epoch, by the clock of `stored_at`.

        Returns:
            False from `stored_at` + `ttl_s` on.
        """
        return now < self.stored_at + self.ttl_s

    def is_usable(self, now: float) -> bool:
        """Tell whether the entry may be used while the provider fails.

        Args:
            now: as in `is_fresh`.

        Returns:
            False for a refusal, and from `stored_at` + `ttl_s` + `stale_s` on.
        """
        return self.observation is not None and now < self.stored_at + self.ttl_s + self.stale_s

    @property
    def kept_s(self) -> float:
        """How long a store keeps it."""
        return self.ttl_s + (self.stale_s if self.observation is not None else 0.0)

    @property
    def size(self) -> int:
        """Bytes it holds, roughly."""
        seen = self.observation
        return 500 if seen is None else 500 + 2 * len(seen.text) + sum(len(a.data) for a in seen.attachments)

    def unwrap(self) -> Observation:
        """Give the result that the entry holds, or raise its refusal again.

        Returns:
            The observation as the tool returned it, with its pictures.

        Raises:
            ToolError: the entry is a refusal; it has the kind and the detail of the first one.
        """
        if self.observation is not None:
            return self.observation
        assert self.refusal is not None
        kind, detail = self.refusal
        raise ToolError(detail, kind=kind, **({"verbatim": True} if self.verbatim else {}))

    def encode(self) -> bytes:
        """Write the entry for a store.

        Returns:
            A header in JSON and the pictures behind it, as `decode` reads them.
        """
        observation = self.observation
        head: dict[str, Any] = {
            "v": SCHEMA_VERSION,
            "at": self.stored_at,
            "ttl": self.ttl_s,
            "stale": self.stale_s,
            "retrieved_at": self.retrieved_at,
            "photos": self.photos,
            "refusal": self.refusal,
            "verbatim": self.verbatim,
        }
        blobs: tuple[Attachment, ...] = ()
        if observation is not None:
            blobs = observation.attachments
            head["text"] = observation.text
            head["facts"] = _FACTS.dump_python(observation.facts, mode="json")
            head["images"] = _IMAGES.dump_python(observation.images, mode="json")
            head["blobs"] = [(blob.sha256, blob.media_type, len(blob.data)) for blob in blobs]
        raw = orjson.dumps(head)
        return b"".join([_LENGTH.pack(len(raw)), raw, *(blob.data for blob in blobs)])

    @classmethod
    def decode(cls, data: bytes) -> Entry | None:
        """Read an entry from a store.

        Args:
            data: what `encode` returned, or anything else that is in its place in a store.

        Returns:
            The entry; None for what is torn, foreign or of another version.
        """
        try:
            (length,) = _LENGTH.unpack_from(data)
            head = orjson.loads(data[_LENGTH.size : _LENGTH.size + length])
            if head["v"] != SCHEMA_VERSION:
                return None
            refusal = head["refusal"]
            return cls(
                stored_at=head["at"],
                ttl_s=head["ttl"],
                stale_s=head["stale"],
                retrieved_at=head["retrieved_at"],
                photos=tuple(head["photos"]),
                refusal=(ToolErrorKind(refusal[0]), refusal[1]) if refusal else None,
                verbatim=bool(head.get("verbatim")),
                observation=None if refusal else _observation(head, data[_LENGTH.size + length :]),
            )
        except (struct.error, orjson.JSONDecodeError, KeyError, TypeError, IndexError, ValueError, ValidationError):
            return None


def _observation(head: dict[str, Any], blobs: bytes) -> Observation:
    attachments: list[Attachment] = []
    at = 0
    for sha256, media_type, size in head["blobs"]:
        data = blobs[at : at + size]
        if len(data) != size:
            raise ValueError("a picture is cut off")
        attachments.append(Attachment(sha256=sha256, media_type=media_type, data=data))
        at += size
    return Observation(
        text=head["text"],
        facts=_FACTS.validate_python(head["facts"]),
        images=_IMAGES.validate_python(head["images"]),
        attachments=tuple(attachments),
    )
