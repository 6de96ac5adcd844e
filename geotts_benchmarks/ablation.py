"""`geotts bench ablation`: what each kind of clue is worth to the embedded engine, on photos or on drawn scenes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import click

from deployments.cli.console import config_option
from deployments.cli.eval_run import chosen
from deployments.config import AppArgs
from geotts_benchmarks.harness import DEFAULT_PHOTOS, Result, report, say
from tts.clues.clue import ClueKind
from tts.clues.clue_reader import ClueReader
from tts.clues.conclusion import answers
from tts.clues.rule import RULES, Rule
from tts.domain.geo import TABLE_KM, distance_km
from tts.domain.photo_cleaning import load_photo
from tts.eval.datasets import load_dataset
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.sample import Sample
from tts.eval.scenes.generate import Scene, SceneMaker
from tts.eval.scenes.words import SPLITS, Split
from tts.geodata.countries import Countries
from tts.geodata.store import DataStore
from tts.perception.sign_reader import SignReader

_THRESHOLDS_KM = TABLE_KM[1:]


@click.command()
@click.option("--photos", type=click.Path(path_type=Path), default=DEFAULT_PHOTOS, show_default=True)
@click.option(
    "--scenes",
    type=click.IntRange(min=0),
    default=0,
    help="Draw this number of scenes, and use them in place of photos.",
)
@click.option(
    "--split", type=click.Choice([*SPLITS]), default="held_out", show_default=True, help="Split of the scenes."
)
@click.option("--misleading", is_flag=True, help="Draw scenes with signs that point to a wrong place.")
@click.option(
    "--as-drawn", is_flag=True, help="Use the text lines of the scenes as they were drawn, without text recognition."
)
@click.option("--quick", is_flag=True, help="Use only every fifth photo or scene.")
@config_option
def command(
    args: AppArgs, photos: Path, scenes: int, split: str, misleading: bool, as_drawn: bool, quick: bool
) -> None:
    """Read every photo once. Then weigh its text without each kind of clue, with each kind alone, and without each rule
    against misleading lettering. Percentages."""
    maker = SceneMaker(seed=0, split=cast(Split, split), misleading=misleading) if scenes else None
    samples = maker.samples(scenes) if maker else chosen(load_dataset("folder", photos), ("text",), None)
    samples = samples[:: 5 if quick else 1]
    drawn = [maker.plan(number) for number in range(scenes)][:: 5 if quick else 1] if maker and as_drawn else None
    report("ablation", lambda: ablate(args, samples, drawn))


def ablate(args: AppArgs, samples: Sequence[Sample], drawn: Sequence[Scene] | None = None) -> Result:
    """Figures with everything, without each kind (`without`), with one kind only (`alone`), and without each rule and
    all of them (`without_rule`); the last also for each kind of drawn sign (`per_template`). With the scenes that the
    samples were `drawn` from, their lines are taken as they are, and nothing is read."""
    store, countries = DataStore(args.data_dir), Countries()
    reader = _reader(store, RULES)
    if drawn is None:
        signs = SignReader()
        say(f"reading {len(samples)} photos")
        read = [_read(sample, signs, reader) for sample in samples]
    else:
        read = [_as_drawn(sample, scene) for sample, scene in zip(samples, drawn, strict=True)]
    names = PlaceNames(countries)
    kinds = frozenset(ClueKind)
    readers = {"nothing": reader}
    readers |= {rule.value: _reader(store, RULES - {rule}) for rule in Rule} | {"all": _reader(store, frozenset())}
    found: Result = {
        "photos": len(samples),
        "all": _figures(reader, read, names),
        "without": {kind.value: _figures(reader, read, names, frozenset({kind})) for kind in ClueKind},
        "alone": {kind.value: _figures(reader, read, names, kinds - {kind}) for kind in ClueKind},
        "without_rule": {name: _figures(one, read, names) for name, one in readers.items()},
    }
    templates = sorted({tag for sample in samples for tag in sample.tags if tag.startswith("template:")})
    parts = {tag: [one for one in read if tag in one.sample.tags] for tag in templates}
    found["per_template"] = {
        tag.removeprefix("template:"): {name: _figures(one, part, names) for name, one in readers.items()}
        for tag, part in parts.items()
    }
    return found


@dataclass(frozen=True, slots=True)
class _Read:
    """A photo's texts with their trust, and the lines above and below each."""

    sample: Sample
    texts: dict[str, float]
    beside: dict[str, tuple[str, ...]]


def _reader(store: DataStore, rules: frozenset[Rule]) -> ClueReader:
    return ClueReader(store.gazetteer(), store.lexicon(), Countries(), rules)


def _read(sample: Sample, signs: SignReader, reader: ClueReader) -> _Read:
    lines = signs.read(load_photo(sample.load())).lines
    return _Read(sample, reader.lines.texts(lines), reader.lines.beside(lines))


def _as_drawn(sample: Sample, scene: Scene) -> _Read:
    """What a reader without errors would see of the near and the far signs."""
    texts: dict[str, float] = {}
    beside: dict[str, tuple[str, ...]] = {}
    for panel in (*scene.panels, *scene.farther):
        lines = [line.text for line in panel.lines]
        for row, text in enumerate(lines):
            texts[text] = 1.0
            beside[text] = (*lines[max(0, row - 1) : row], *lines[row + 1 : row + 2])
    return _Read(sample, texts, beside)


def _figures(
    reader: ClueReader, read: Sequence[_Read], names: PlaceNames, without: frozenset[ClueKind] = frozenset()
) -> Result:
    """Share of photos within each threshold, in the right country and without an answer, at first glance."""
    hits, country, silent = dict.fromkeys(_THRESHOLDS_KM, 0), 0, 0
    for one in read:
        sample = one.sample
        leads = reader.leads(one.texts, beside=one.beside, without=without)
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
