"""Warnings that a command prints once on stderr; the command continues."""

from __future__ import annotations

from collections.abc import Iterable

from deployments.cli.console import STDERR
from deployments.cli.text_console import styled_text
from deployments.doctor_finding import Finding


def warn(line: str) -> None:
    """One line with a yellow mark."""
    STDERR.print(styled_text(("!", "yellow"), f" {line}"), soft_wrap=True)


def warn_of(findings: Iterable[Finding]) -> None:
    """What was found and what to do, one line each."""
    for found in findings:
        warn(f"{found.detail}: {found.mend}")
