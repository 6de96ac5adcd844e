"""The photos of an acceptance run: the shipped samples, then the user's labelled ones in random, stable order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tts.eval.acceptance.acceptance import OWN, SAMPLE
from tts.eval.datasets import load_dataset
from tts.eval.sample import Sample, sample_id
from tts.package_files import SAMPLES


def acceptance_photos(dataset: str, folder: Path | None, *, limit: int | None = None, seed: int = 0) -> list[Sample]:
    """Samples that carry the tag `sample` or `own`; `limit` is for the user's.

    Raises:
        DataError: when `folder` holds no photos with known places; the message says what is needed.
    """
    shipped = [_mark_sample(sample, SAMPLE, seed) for sample in load_dataset("folder", SAMPLES, seed=seed)]
    own = [_mark_sample(sample, OWN, seed) for sample in load_dataset(dataset, folder, seed=seed)] if folder else []
    return [*shipped, *own[:limit]]


def _mark_sample(sample: Sample, tag: str, seed: int) -> Sample:
    """Known by its name and its place together, so that other photos of the same names are not taken for these."""
    point = sample.truth.point
    ident = sample_id(tag, f"{sample.key}\x00{point.lat:.6f},{point.lon:.6f}", seed)
    return replace(sample, id=ident, tags=(tag, *sample.tags))
