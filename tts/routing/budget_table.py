"""How often recorded runs were right, and what they took: a row for each number of rollouts, turns and so on.

`geotts plan --runs` fits a table, one run file or several a row. Two tables ship: `tts/data/budget/clues.yaml` is from
runs of the embedded engine; `tts/data/budget/policy.yaml` is from made-up samples of one policy, for other engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field

from geotts_client.options import MAX_PARALLEL, MAX_QUESTIONS, STOP_PATTERN
from tts.domain.geo import TABLE_KM
from tts.domain.plan import MAX_DRAWS, Limits
from tts.domain.recorded_table import RecordedTable
from tts.domain.request import LocateOptions
from tts.domain.stop_table import Band
from tts.domain.value import Value

POLICY = "policy"
"""In place of an engine: made-up samples of one policy."""
Percent = Annotated[float, Field(ge=0, le=100)]
Count = Annotated[float, Field(ge=0)]
RADIUS_KM = dict(zip((Band.TOWN, Band.REGION, Band.COUNTRY), TABLE_KM[1:], strict=True))
"""Within which distance an answer counts as right where a town, a region, a country is wanted."""


class Amount(Value):
    """What a request took: on average, and at most in nine of ten requests."""

    mean: Count
    p90: Count


class RightShare(Value):
    """The share of right answers in percent, with its 95 % interval."""

    value: Percent
    low: Percent
    high: Percent

    def __str__(self) -> str:
        return f"{self.value:.0f} % [{self.low:.0f}, {self.high:.0f}]"


class PossibleWays(Value):
    """What an installation and a request can do: answers drawn of each rollout, questions of the verifier, and whether
    rollouts may be stopped early."""

    most_draws: int = MAX_DRAWS
    most_questions: int = MAX_QUESTIONS
    may_stop: bool = True

    def both(self, other: PossibleWays) -> PossibleWays:
        """What both can do."""
        return PossibleWays(
            most_draws=min(self.most_draws, other.most_draws),
            most_questions=min(self.most_questions, other.most_questions),
            may_stop=self.may_stop and other.may_stop,
        )

    def rows_of(self, rows: Sequence[BudgetRow]) -> tuple[BudgetRow, ...]:
        """The rows that can be done; all where none can."""
        return tuple(row for row in rows if self._is_allowed(row)) or tuple(rows)

    def _is_allowed(self, row: BudgetRow) -> bool:
        stops = row.stop == "none" or self.may_stop
        return row.answer_draws <= self.most_draws and row.questions <= self.most_questions and stops


def ways_of_request(options: LocateOptions, *, draws_answers: bool) -> PossibleWays:
    """What a request can do: whether its dialect draws answers again, how many questions its options leave to the
    verifier, and whether they let rollouts be stopped."""
    asked = MAX_QUESTIONS if options.verifier_questions is None else options.verifier_questions
    return PossibleWays(
        most_draws=MAX_DRAWS if draws_answers else 1,
        most_questions=0 if options.tools == () or options.max_tool_calls == 0 else asked,
        may_stop=options.stop != "none",
    )


class BudgetRow(Value):
    """One way to spend: `n` rollouts of up to `turns` turns, `answer_draws` answers of each, `questions` of the
    verifier, under a stop policy. `photos` were recorded with it; `seconds` are None where nothing ran.

    `tokens` are those that rollouts wrote, and `tool_calls` those of rollouts and verifier. A request that is given
    `tokens.p90`, of which each rollout gets the same share, is cut short once in ten times.
    """

    n: Annotated[int, Field(ge=1, le=MAX_PARALLEL)]
    turns: Annotated[int, Field(ge=1, le=64)]
    answer_draws: Annotated[int, Field(ge=1, le=MAX_DRAWS)] = 1
    questions: Annotated[int, Field(ge=0, le=MAX_QUESTIONS)] = 0
    stop: Annotated[str, Field(pattern=STOP_PATTERN)] = "none"
    photos: Annotated[int, Field(ge=1)]
    right: dict[Band, RightShare]
    tokens: Amount
    prompt_tokens: Amount
    tool_calls: Amount | None = None
    seconds: Amount | None = None

    def limits(self, *, keeps_turns: bool) -> Limits:
        """What a rollout gets; with `keeps_turns` the turns of its dialect."""
        limits = Limits(max_turns=64, max_tool_calls=256, max_tokens=2**31, answer_draws=self.answer_draws)
        return limits if keeps_turns else limits.model_copy(update={"max_turns": self.turns})

    @property
    def possible_ways(self) -> PossibleWays:
        """The questions and stops of rows that do no more than this one."""
        return PossibleWays(most_questions=self.questions, may_stop=self.stop != "none")

    def includes(self, other: BudgetRow) -> bool:
        """Whether it does all that another row does under the same stop policy, and writes at least as many tokens."""
        counts = ((self.n, other.n), (self.turns, other.turns), (self.answer_draws, other.answer_draws),
                  (self.questions, other.questions), (self.tokens.mean, other.tokens.mean))  # fmt: skip
        return self.stop == other.stop and all(own >= its for own, its in counts)

    @property
    def label(self) -> str:
        """In words: what differs from plain rollouts is named."""
        parts = [f"n = {self.n}", f"{self.turns} turn{'' if self.turns == 1 else 's'}"]
        parts += [f"{self.answer_draws} draws"] if self.answer_draws > 1 else []
        parts += [f"{self.questions} questions"] if self.questions else []
        parts += [self.stop] if self.stop != "none" else []
        return ", ".join(parts)

    @property
    def additions(self) -> str:
        """In words for people: what it does in addition to plain rollouts; empty for nothing."""
        parts = [f"{self.answer_draws} answers drawn of each attempt"] if self.answer_draws > 1 else []
        parts += [f"{self.questions} questions of the verifier"] if self.questions else []
        parts += [f"stop {self.stop}"] if self.stop != "none" else []
        return ", ".join(parts)


class BudgetTable(RecordedTable):
    """All rows, and which runs of which engine they are from."""

    engine: str
    rows: Annotated[tuple[BudgetRow, ...], Field(min_length=1)]

    def seconds_of(self, row: BudgetRow) -> Amount | None:
        """The seconds of a row: at least those of each row that it includes.

        Rows are recorded in several sessions. More work that was recorded in a faster session is not faster.
        """
        if row.seconds is None:
            return None
        known = [row.seconds, *(one.seconds for one in self.rows if one.seconds is not None and row.includes(one))]
        return Amount(mean=max(one.mean for one in known), p90=max(one.p90 for one in known))

    def write(self, path: Path) -> None:
        """As YAML, one line for a row."""
        rows = [yaml.safe_dump(row.jsonable(), default_flow_style=True, sort_keys=False, width=10_000).strip()
                for row in self.rows]  # fmt: skip
        path.write_text(self.heading("rows") + "rows:\n" + "".join(f"  - {row}\n" for row in rows), encoding="utf-8")


@lru_cache
def shipped_budget_table(engine: str) -> BudgetTable:
    """That of an engine, else that of made-up samples."""
    folder = files("tts").joinpath("data", "budget")
    file = folder.joinpath(f"{engine}.yaml")
    text = (file if file.is_file() else folder.joinpath("policy.yaml")).read_text("utf-8")
    return BudgetTable.model_validate(yaml.load(text, yaml.CSafeLoader))
