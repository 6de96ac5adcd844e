"""`geotts bench ablation`: what each kind of clue is worth to the embedded engine, on photos or on drawn scenes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import click
import numpy as np

from deployments.cli.console import config_option
from deployments.cli.eval_run import choose_samples
from deployments.config import AppArgs
from geotts_benchmarks.harness import DEFAULT_PHOTOS, Result, print_progress, report
from tts.clues.clue import ClueKind
from tts.clues.clue_reader import ClueReader
from tts.clues.conclusion import is_worth_a_point
from tts.clues.rule import RULES, Rule
from tts.domain.geo import TABLE_KM, Floats, distance_km
from tts.domain.photo_cleaning import load_photo
from tts.eval.datasets import load_dataset
from tts.eval.metrics.intervals import paired_difference
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.sample import Sample
from tts.eval.scenes.generate import Scene, SceneMaker
from tts.eval.scenes.words import SPLITS, Split
from tts.geodata.countries import Countries
from tts.geodata.store import DataStore
from tts.perception.sign_reader import SignReader

_THRESHOLDS_KM = TABLE_KM[1:]
_MEASURES = (*(f"acc_{km:.0f}" for km in _THRESHOLDS_KM), "country", "abstained")
_COUNTRY_COLUMN = len(_MEASURES) - 2
_ABSTAINED_COLUMN = len(_MEASURES) - 1


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
    samples = maker.samples(scenes) if maker else choose_samples(load_dataset("folder", photos), ("text",), None)
    samples = samples[:: 5 if quick else 1]
    drawn = [maker.plan(number) for number in range(scenes)][:: 5 if quick else 1] if maker and as_drawn else None
    report("ablation", lambda: ablate(args, samples, drawn))


def ablate(args: AppArgs, samples: Sequence[Sample], drawn: Sequence[Scene] | None = None) -> Result:
    """Figures with everything, without each kind (`without`), with one kind only (`alone`), and without each rule and
    all of them (`without_rule`); the last also for each kind of drawn sign (`per_template`). `change` is the difference
    from everything in points, with its paired 95 % interval: value, low, high. With the scenes that the samples were
    `drawn` from, their lines are taken as they are, and nothing is read."""
    store, countries = DataStore(args.data_dir), Countries()
    reader = _make_reader(store, RULES)
    if drawn is None:
        signs = SignReader()
        print_progress(f"reading {len(samples)} photos")
        read = [_read_texts(sample, signs, reader) for sample in samples]
    else:
        read = [_drawn_texts(sample, scene) for sample, scene in zip(samples, drawn, strict=True)]
    names = PlaceNames(countries)
    kinds = frozenset(ClueKind)
    readers = {"nothing": reader}
    readers |= {rule.value: _make_reader(store, RULES - {rule}) for rule in Rule} | {
        "all": _make_reader(store, frozenset())
    }
    everything = _outcomes(reader, read, names)

    def compare(reader: ClueReader, without: frozenset[ClueKind] = frozenset()) -> Result:
        return _compare_with_everything(_outcomes(reader, read, names, without), everything)

    found: Result = {
        "photos": len(samples),
        "all": _figures(everything),
        "without": {kind.value: compare(reader, frozenset({kind})) for kind in ClueKind},
        "alone": {kind.value: compare(reader, kinds - {kind}) for kind in ClueKind},
    }
    outcomes_without_rule = {name: _outcomes(one, read, names) for name, one in readers.items()}
    found["without_rule"] = {
        name: _compare_with_everything(outcomes, everything) for name, outcomes in outcomes_without_rule.items()
    }
    templates = sorted({tag for sample in samples for tag in sample.tags if tag.startswith("template:")})
    parts = {tag: [tag in one.sample.tags for one in read] for tag in templates}
    found["per_template"] = {
        tag.removeprefix("template:"): {
            name: _compare_with_everything(outcomes[part], everything[part])
            for name, outcomes in outcomes_without_rule.items()
        }
        for tag, part in parts.items()
    }
    return found


@dataclass(frozen=True, slots=True)
class _PhotoTexts:
    """A photo's texts with their trust, and the lines above and below each."""

    sample: Sample
    texts: dict[str, float]
    beside: dict[str, tuple[str, ...]]


def _make_reader(store: DataStore, rules: frozenset[Rule]) -> ClueReader:
    return ClueReader(store.gazetteer(), store.lexicon(), Countries(), rules)


def _read_texts(sample: Sample, signs: SignReader, reader: ClueReader) -> _PhotoTexts:
    lines = signs.read(load_photo(sample.load())).lines
    return _PhotoTexts(sample, reader.lines.texts(lines), reader.lines.neighbours_of_lines(lines))


def _drawn_texts(sample: Sample, scene: Scene) -> _PhotoTexts:
    """What a reader without errors would see of the near and the far signs."""
    texts: dict[str, float] = {}
    beside: dict[str, tuple[str, ...]] = {}
    for panel in (*scene.panels, *scene.farther):
        lines = [line.text for line in panel.lines]
        for row, text in enumerate(lines):
            texts[text] = 1.0
            beside[text] = (*lines[max(0, row - 1) : row], *lines[row + 1 : row + 2])
    return _PhotoTexts(sample, texts, beside)


def _outcomes(
    reader: ClueReader, read: Sequence[_PhotoTexts], names: PlaceNames, without: frozenset[ClueKind] = frozenset()
) -> Floats:
    """A row for each photo at first glance, a column for each of `_MEASURES`: 1 where it holds, else 0."""
    rows = np.zeros((len(read), len(_MEASURES)))
    for row, one in zip(rows, read, strict=True):
        sample = one.sample
        leads = reader.leads(one.texts, beside=one.beside, without=without)
        belief = reader.weigher.weigh(leads.clues, leads.mentions)
        point, _ = belief.best_point()
        if not is_worth_a_point(belief, leads):
            row[_ABSTAINED_COLUMN] = 1.0
            continue
        away = distance_km(point, sample.truth.point)
        row[: len(_THRESHOLDS_KM)] = [away < max(km, sample.truth.slack_km) for km in _THRESHOLDS_KM]
        here = reader.countries.country_at(point)
        row[_COUNTRY_COLUMN] = here is not None and here.code == (
            sample.truth.country_code or names.country_code(sample.truth.country)
        )
    return rows


def _figures(outcomes: Floats) -> Result:
    """Shares in percent; of no photo, 0."""
    shares = 100.0 * outcomes.sum(axis=0) / max(1, len(outcomes))
    return {name: round(float(share), 1) for name, share in zip(_MEASURES, shares, strict=True)}


def _compare_with_everything(outcomes: Floats, everything: Floats) -> Result:
    """The shares, and how they differ from those with everything."""
    change = {}
    for name, with_all, without in zip(_MEASURES, everything.T, outcomes.T, strict=True):
        found = paired_difference(100.0 * with_all, 100.0 * without)
        change[name] = [round(value, 1) for value in (found.value, found.low, found.high)]
    return {**_figures(outcomes), "change": change}
