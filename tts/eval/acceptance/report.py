"""An acceptance as Markdown, and as one HTML file that loads nothing."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator, Sequence

from tts.eval.acceptance.acceptance import Acceptance
from tts.eval.acceptance.acceptance_texts import (
    Row,
    calibration_lines,
    cost_rows,
    fault_rows,
    progress_sentence,
    quality_rows,
    title,
)
from tts.eval.acceptance.findings import Finding
from tts.eval.runs.report import Table, table_markdown
from tts.report.markup import Child, Html, el, page, row

_TABLE_HEAD = ("", "value", "95 % interval", "of")
_NO_FINDINGS = "Nothing wrong was found."


def acceptance_markdown(found: Acceptance) -> str:
    """The whole acceptance as Markdown; what is wrong comes first."""
    parts = [f"# {title(found)}", progress_sentence(found), "## What is wrong", *_finding_lines(found.findings)]
    parts += ["## Calibration", *calibration_lines(found.calibration)]
    for heading, rows in _tables(found):
        parts += [f"## {heading}", _markdown_table(rows)]
    for table in found.published:
        parts += [f"## Published for {table.benchmark}", table_markdown(table)]
    return "\n\n".join([*parts, f"Run file: {found.run_file}"])


def acceptance_page(found: Acceptance) -> str:
    """The same as a whole HTML document."""
    wrong: Child = [_finding_box(finding) for finding in found.findings] or el("p", _NO_FINDINGS)
    body = el(
        "main",
        el("h1", title(found)),
        el("p", progress_sentence(found), class_="where"),
        el("h2", "What is wrong"),
        wrong,
        el("h2", "Calibration"),
        [el("p", line) for line in calibration_lines(found.calibration)],
        [[el("h2", heading), _html_table(_TABLE_HEAD, rows)] for heading, rows in _tables(found)],
        [[el("h2", f"Published for {table.benchmark}"), _published_table(table)] for table in found.published],
        el("p", f"Run file: {found.run_file}", class_="soft small"),
    )
    stylesheet = importlib.resources.files("tts").joinpath("data/report/report.css").read_text()
    return page(f"Acceptance of {title(found)}", stylesheet, body)


def _tables(found: Acceptance) -> Iterator[tuple[str, list[Row]]]:
    yield "Faults", fault_rows(found.faults)
    yield "For one answer", cost_rows(found.costs)
    if found.quality is not None:
        yield "Your labelled photos", quality_rows(found.quality)
    if found.samples is not None:
        yield "The shipped samples (drawn signs)", quality_rows(found.samples)


def _finding_lines(findings: Sequence[Finding]) -> list[str]:
    if not findings:
        return [_NO_FINDINGS]
    return ["\n".join(f"* {finding.kind}: {finding.text}. Change: {finding.change}." for finding in findings)]


def _markdown_table(rows: Sequence[Row]) -> str:
    widths = [max(len(row[i]) for row in (_TABLE_HEAD, *rows)) for i in range(len(_TABLE_HEAD))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in (_TABLE_HEAD, *rows)
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _finding_box(finding: Finding) -> Html:
    return el(
        "div",
        el("p", f"{finding.kind}: {finding.text}."),
        el("p", f"Change: {finding.change}.", class_="small"),
        class_="box against" if finding.kind == "fault" else "box",
    )


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    cells = [row(*texts) for texts in rows]
    return el("div", el("table", el("tr", [el("th", name) for name in head]), cells), class_="scroll")


def _published_table(table: Table) -> Html:
    head = ("system", *(f"@{threshold:g} km" for threshold in table.thresholds_km), "source")
    return _html_table(
        head, [(row.system, *(f"{value:.2f}" for value in row.acc_percent), row.note) for row in table.rows]
    )
