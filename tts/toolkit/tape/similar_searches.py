"""Finds recorded searches by similarity: boxes by their overlap, queries by common words.

A box matches the recorded one it overlaps most, from an intersection over union of `iou` on; a query the recorded one
with the largest Jaccard index of tokens, from `jaccard` on. Ties go to what was recorded first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tts.domain.photo import Box
from tts.domain.tooling import ToolErrorKind, WebFact
from tts.toolkit.broker.cache_key import normal_text
from tts.toolkit.tape.row import TapeRow

_WORD = re.compile(r"\w+")
Hits = tuple[WebFact, ...]


@dataclass(slots=True)
class SearchTape:
    """Results by normalised query, boxes with results by SHA-256 of the photo, and the two thresholds."""

    texts: dict[str, Hits] = field(default_factory=dict)
    pictures: dict[str, list[tuple[Box, Hits]]] = field(default_factory=lambda: defaultdict(list))
    iou: float = 0.7
    jaccard: float = 0.7

    @classmethod
    def from_rows(cls, rows: Iterable[TapeRow], *, iou: float = 0.7, jaccard: float = 0.7) -> SearchTape:
        """Collect the searches among recorded calls; those of several queries are taken apart.

        Args:
            rows: recorded calls of any tools; only `web_search` and `image_search` count.
            iou: the intersection over union from which boxes match, in [0, 1].
            jaccard: the Jaccard index of words from which queries match, in [0, 1].

        Returns:
            A tape with the hits of each search, best first.
        """
        tape = cls(iou=iou, jaccard=jaccard)
        for row in rows:
            facts = tuple(fact for fact in row.result.facts if isinstance(fact, WebFact))
            if row.name == "web_search":
                for query in dict.fromkeys(fact.query for fact in facts):
                    tape.add_text(query, tuple(fact for fact in facts if fact.query == query))
            elif (
                row.name == "image_search"
                and _is_answered(row)
                and (box := row.box()) is not None
                and box.photo < len(row.photos)
            ):
                tape.add_picture(row.photos[box.photo], box, facts)
        return tape

    def add_text(self, query: str, hits: Sequence[WebFact]) -> None:
        """Record the hits of a query. Of two queries with the same normal text the first stays.

        Args:
            query: as it was asked.
            hits: the best first.
        """
        self.texts.setdefault(normal_text(query), tuple(hits))

    def add_picture(self, photo_sha256: str, box: Box, hits: Sequence[WebFact]) -> None:
        """Record the hits for a box of a photo, after those that are there.

        Args:
            photo_sha256: the hash of the photo, or its path where no hash is known.
            box: the region, in fractions of the photo's sides; its `photo` is not compared.
            hits: the best first.
        """
        self.pictures[photo_sha256].append((box, tuple(hits)))

    def find_text(self, query: str) -> Hits | None:
        """None when no recorded query is alike enough.

        Args:
            query: in any script; case, width and white space make no difference.

        Returns:
            The hits of the query that is most alike; empty if it found nothing when it was recorded.
        """
        wanted = normal_text(query)
        if wanted in self.texts:
            return self.texts[wanted]
        words = tokens(wanted)
        scored = [(likeness(words, tokens(known)), hits) for known, hits in self.texts.items()]
        return _best_hits(scored, self.jaccard)

    def find_picture(self, photo_sha256: str, box: Box) -> Hits | None:
        """None when no recorded box of this photo overlaps enough.

        Args:
            photo_sha256: as in `add_picture`.
            box: as in `add_picture`.

        Returns:
            The hits for the box that overlaps most; empty if it found nothing when it was recorded.
        """
        known = self.pictures.get(photo_sha256, [])
        return _best_hits([(box.of_photo(recorded.photo).iou(recorded), hits) for recorded, hits in known], self.iou)


def _is_answered(row: TapeRow) -> bool:
    """Whether a search engine answered, be it that nothing was found."""
    failure = row.result.failure
    return failure is None or failure.kind is ToolErrorKind.NOT_FOUND


def _best_hits(scored: list[tuple[float, Hits]], least: float) -> Hits | None:
    if not scored:
        return None
    score, hits = max(scored, key=lambda pair: pair[0])
    return hits if score >= least else None


def tokens(text: str) -> frozenset[str]:
    """Split a text into words.

    Args:
        text: its words are runs of letters, digits and underscores, in any script.

    Returns:
        Its different words, in the case that they have there.
    """
    return frozenset(_WORD.findall(text))


def likeness(a: frozenset[str], b: frozenset[str]) -> float:
    """Compare two sets of words by their Jaccard index.

    Args:
        a, b: the words of two texts, in either order.

    Returns:
        A number in [0, 1]; 0 for two empty sets.
    """
    return len(a & b) / len(a | b) if a or b else 0.0
