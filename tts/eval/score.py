"""Scores the outputs of any system: a file of rows in, one `Score` out.

Distances are WGS-84 geodesics. Positions of a file in GCJ-02 are converted first. The figures without conversion are
reported too, because published tables for Chinese photos rarely state the datum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tts.domain.geo import Floats, LatLon, distances_km
from tts.domain.tooling import Datum
from tts.domain.value import Value
from tts.errors import DataError
from tts.eval.answer_parsers import NAME_READERS, PARSERS, ParserName
from tts.eval.fields import RowAnswer, StatedPlace, answer_of, names_of, truth_of
from tts.eval.metrics.accuracy import (
    CLASSIC_KM,
    PAPER_KM,
    accuracy_percent,
    coverage_percent,
    geoscores,
    mean_km,
    median_km,
)
from tts.eval.metrics.name_agreement import PlaceNames
from tts.eval.reader_rewards import REWARDED, reward_of
from tts.eval.rows import Row, read_rows
from tts.eval.truth_table import JoinedRows
from tts.geodata.datum import as_wgs84
from tts.rewards.released.geoagent_answer import answer_for_geocoding
from tts.rewards.released.geovista_reward import Levels, names_by_rule

_MAX_UNREADABLE = 20


class Score(Value):
    """Figures of one file, in percent unless a unit is named.

    `acc` is at 0.5, 2, 10, 25, 200, 750 km, `acc_classic` at 1, 25, 200, 750, 2500 km, both of *all* rows;
    `acc_as_written` is `acc` without the conversion of datums. Names are compared when a gazetteer was given; `country`
    and `city` are shares of the rows whose truth names one. `reward` is the mean of the score that the reader's authors
    give (0 to 1, coordinates as written) and `levels` has country, state and city by whole words; both are there for
    the readers that have them, if a row has a text.

    `unparsed` counts the rows without an answer. `abstained` of them state nothing; in the others, no position was
    found, and `unreadable` has the numbers of the first 20. `failures` counts the requests of a run file that failed;
    they are no part of `n`. With a table of truths, `missing` counts its photos without a row, and `not_in_truth` the
    rows whose photo it does not have; those are not scored.
    """

    file: str
    n: int
    unparsed: int
    acc: tuple[float, ...]
    acc_classic: tuple[float, ...]
    median_km: float | None
    mean_km: float | None
    geoscore: float
    coverage: float
    parser: ParserName
    datum: Datum
    answers_datum: Datum
    acc_as_written: tuple[float, ...] | None = None
    country: float | None = None
    city: float | None = None
    reward: float | None = None
    levels: dict[str, float] | None = None
    abstained: int = 0
    unreadable: tuple[int, ...] = ()
    failures: int = 0
    missing: int | None = None
    not_in_truth: int | None = None


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """How a file is read. `datum` is that of the true positions, `answers_datum` that of the answers.

    `geocoded` has the positions of answers that are names, by the answer as written.
    """

    parser: ParserName = "paper"
    datum: Datum = "WGS-84"
    answers_datum: Datum = "WGS-84"
    names: PlaceNames | None = None
    geocoded: Mapping[str, LatLon] = field(default_factory=dict)


@dataclass(slots=True)
class _Columns:
    """Positions of rows with an answer, side by side, and what all rows add up to."""

    answered: list[int] = field(default_factory=list)
    guesses: list[LatLon] = field(default_factory=list)
    true: list[LatLon] = field(default_factory=list)
    n: int = 0
    parsed: int = 0
    abstained: int = 0
    failures: int = 0
    unreadable: list[int] = field(default_factory=list)
    countries: int = 0
    cities: int = 0
    named_countries: int = 0
    named_cities: int = 0
    reward: float = 0.0
    texts: int = 0
    levels: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Levels._fields, 0))

    def errors_km(self, guess_datum: Datum, true_datum: Datum) -> Floats:
        """(n,) errors in km, NaN for rows without an answer."""
        errors = np.full(self.n, np.nan)
        guesses = [as_wgs84(point, guess_datum) for point in self.guesses]
        true = [as_wgs84(point, true_datum) for point in self.true]
        errors[self.answered] = distances_km(*_arrays(guesses), *_arrays(true))
        return errors


def score_file(path: Path, options: ScoreOptions | None = None) -> Score:
    """Score one file.

    Raises:
        DataError: when the file cannot be read, is empty, or a row has no truth or no field for an answer.
    """
    return score_rows(read_rows(path), str(path), options or ScoreOptions())


def score_joined(joined: JoinedRows, name: str, options: ScoreOptions) -> Score:
    """Score the outputs of a file that were joined with their truths."""
    scored = score_numbered(joined.rows, name, options)
    return scored.model_copy(update={"missing": len(joined.missing), "not_in_truth": len(joined.unknown)})


def score_rows(rows: Iterable[Row], name: str, options: ScoreOptions) -> Score:
    """Score rows that were read already; `name` stands in the result and in messages."""
    return score_numbered(enumerate(rows, 1), name, options)


def score_numbered(rows: Iterable[tuple[int, Row]], name: str, options: ScoreOptions) -> Score:
    """Score rows that stand under these numbers in their file."""
    columns = _Columns()
    for number, row in _without_failures(rows, columns):
        columns.n += 1
        where = f"{name}, row {number}"
        truth = truth_of(row, where)
        answer = answer_of(row, where)
        columns.named_countries += bool(truth.country)
        columns.named_cities += bool(truth.city)
        guess = place_of_answer(answer, options.parser, options.geocoded)
        columns.texts += answer.text is not None
        if answer.text is not None and truth.point is not None:
            columns.reward += reward_of(answer.text, guess, truth.point, options.parser)
        if options.parser == "geovista":
            for level, right in names_by_rule(answer.text or "", names_of(row))._asdict().items():
                columns.levels[level] += right
        by_name = options.parser in NAME_READERS and not answer.is_empty
        if guess is None or (guess.point is None and not by_name):
            columns.abstained += answer.is_empty
            if not answer.is_empty and len(columns.unreadable) < _MAX_UNREADABLE:
                columns.unreadable.append(number)
            continue
        columns.parsed += 1
        if options.names is not None:
            columns.countries += options.names.same_country(guess.country, truth.country)
            columns.cities += options.names.same_city(guess.city, truth.city, truth.country)
        if guess.point is not None and truth.point is not None:
            columns.answered.append(columns.n - 1)
            columns.guesses.append(guess.point)
            columns.true.append(truth.point)
    if not columns.n:
        why = f": all {columns.failures} requests failed" if columns.failures else ""
        raise DataError(f"{name} has no rows to score{why}")
    return _score(columns, name, options)


def _without_failures(rows: Iterable[tuple[int, Row]], columns: _Columns) -> Iterator[tuple[int, Row]]:
    for number, row in rows:
        if row.get("failure") and "config_sha256" in row:  # a record of a run file
            columns.failures += 1
        else:
            yield number, row


def place_of_answer(
    answer: RowAnswer, parser: ParserName, geocoded: Mapping[str, LatLon] | None = None
) -> StatedPlace | None:
    """The position of an answer: parsed from its text, or from the columns of its table; a name is looked up."""
    if answer.text is None:
        return answer.place
    place = PARSERS[parser](answer.text)
    if place is None or parser != "geoagent" or not geocoded:
        return place
    return replace(place, point=geocoded.get(answer_for_geocoding(answer.text) or ""))


def _score(columns: _Columns, name: str, options: ScoreOptions) -> Score:
    errors = columns.errors_km(options.answers_datum, options.datum)
    shifted = "GCJ-02" in (options.datum, options.answers_datum)
    as_written = _round_all(accuracy_percent(columns.errors_km("WGS-84", "WGS-84"))) if shifted else None
    median, mean = median_km(errors), mean_km(errors)
    return Score(
        file=name,
        n=columns.n,
        unparsed=columns.n - columns.parsed,
        acc=_round_all(accuracy_percent(errors, PAPER_KM)),
        acc_classic=_round_all(accuracy_percent(errors, CLASSIC_KM)),
        median_km=None if median is None else round(median, 3),
        mean_km=None if mean is None else round(mean, 3),
        geoscore=round(float(geoscores(errors).mean()), 1),
        coverage=round(coverage_percent(errors), 2),
        parser=options.parser,
        datum=options.datum,
        answers_datum=options.answers_datum,
        acc_as_written=as_written,
        country=_share(columns.countries, columns.named_countries) if options.names is not None else None,
        city=_share(columns.cities, columns.named_cities) if options.names is not None else None,
        reward=round(columns.reward / columns.n, 6) if options.parser in REWARDED and columns.texts else None,
        levels=_percent(columns.levels, columns.n) if options.parser == "geovista" else None,
        abstained=columns.abstained,
        unreadable=tuple(columns.unreadable),
        failures=columns.failures,
    )


def _arrays(points: list[LatLon]) -> tuple[Floats, Floats]:
    return np.array([p.lat for p in points], dtype=np.float64), np.array([p.lon for p in points], dtype=np.float64)


def _share(count: int, of: int) -> float | None:
    return round(100.0 * count / of, 2) if of else None


def _percent(counts: Mapping[str, int], n: int) -> dict[str, float]:
    return {name: round(100.0 * count / n, 2) for name, count in counts.items()}


def _round_all(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(round(value, 2) for value in values)
