"""`geotts bench ablation`: what each kind of clue is worth to the embedded engine, on photos or on drawn scenes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from deployments.cli.console import config_option
from deployments.cli.eval_run import chosen
from geotts_benchmarks.harness import DEFAULT_PHOTOS, Result, report, say
from tts.clues.clue import ClueKind
from tts.clues.clue_reader import ClueReader
from tts.clues.conclusion import answers
from tts.config import AppArgs
from tts.domain.geo import distance_km
from tts.domain.photo_cleaning import load_photo
from tts.eval.datasets import load_dataset
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.sample import Sample
from tts.eval.scenes.generate import SceneMaker
from tts.geodata.countries import Countries
from tts.geodata.store import DataStore
from tts.perception.reader import SignReader

_THRESHOLDS_KM = (25.0, 200.0, 750.0)


@click.command()
@click.option("--photos", type=click.Path(path_type=Path), default=DEFAULT_PHOTOS, show_default=True)
@click.option(
    "--scenes", type=click.IntRange(min=0), default=0, help="Draw this many scenes instead of reading photos."
)
@click.option("--quick", is_flag=True, help="Every fifth photo only.")
@config_option
def command(args: AppArgs, photos: Path, scenes: int, quick: bool) -> None:
    """Read every photo once, then weigh it with each kind of clue left out, and with each kind alone. Percentages."""
    samples = SceneMaker(seed=0).samples(scenes) if scenes else chosen(load_dataset("folder", photos), ("text",), None)
    report("ablation", lambda: ablate(args, samples[:: 5 if quick else 1]))


def ablate(args: AppArgs, samples: Sequence[Sample]) -> Result:
    """Figures with everything, without each kind (`without`), and with one kind only (`alone`)."""
    store, countries = DataStore(args.data_dir), Countries()
    reader = ClueReader(store.gazetteer(), store.lexicon(), countries)
    signs = SignReader()
    say(f"reading {len(samples)} photos")
    read = [(sample, reader.lines.texts(signs.read(load_photo(sample.load())).lines)) for sample in samples]
    names = PlaceNames(countries)
    kinds = frozenset(ClueKind)
    return {
        "photos": len(samples),
        "all": _figures(reader, read, names, frozenset()),
        "without": {kind.value: _figures(reader, read, names, frozenset({kind})) for kind in ClueKind},
        "alone": {kind.value: _figures(reader, read, names, kinds - {kind}) for kind in ClueKind},
    }


def _figures(
    reader: ClueReader, read: Sequence[tuple[Sample, dict[str, float]]], names: PlaceNames, without: frozenset[ClueKind]
) -> Result:
    """Share of photos within each threshold, in the right country and without an answer, at first glance."""
    hits, country, silent = dict.fromkeys(_THRESHOLDS_KM, 0), 0, 0
    for sample, texts in read:
        leads = reader.leads(texts, without=without)
        belief = reader.weigher.weigh(leads.clues, leads.mentions)
        point, _ = belief.best_point()
        if not answers(belief, leads):
            silent += 1
            continue
        away = distance_km(point, sample.truth.point)
        for km in _THRESHOLDS_KM:
            hits[km] += away < max(km, sample.truth.slack_km)
        here = reader.countries.at(point)
        country += here is not None and here.code == (
            sample.truth.country_code or names.country_code(sample.truth.country)
        )
    share = 100.0 / max(1, len(read))
    accuracy = {f"acc_{km:.0f}": round(count * share, 1) for km, count in hits.items()}
    return {**accuracy, "country": round(country * share, 1), "abstained": round(silent * share, 1)}
