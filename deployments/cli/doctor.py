"""`geotts doctor`."""

from __future__ import annotations

from functools import partial

import click
import orjson
from rich.text import Text

from deployments.cli.console import EXIT_FAILED, config_option, profile_in_use, profile_options
from deployments.cli.text_console import TextConsole
from deployments.config import AppArgs
from deployments.doctor.installation import check_installation
from deployments.doctor.profile import explain, no_endpoint_finding
from deployments.doctor_finding import Finding
from tts.config import VllmEngine

_MARKS = {"ok": ("✓", "green"), "off": ("·", "dim"), "missing": ("!", "yellow"), "problem": ("✗", "red")}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON array instead of a list.")
@config_option
@partial(profile_options, to_run=False)
def command(args: AppArgs, as_json: bool) -> int:
    """Report what is installed, what is missing, what does not work without it, and what to do.

    The exit code is 1 when something is broken; things that are merely switched off do not count.
    """
    findings = check_installation(args)
    if (chosen := profile_in_use()) is not None:
        name, profile = chosen
        if profile.needs_endpoint and isinstance(args.engine, VllmEngine):
            findings = [no_endpoint_finding(name) if found.what == "engine" else found for found in findings]
        findings += explain(name, profile, args)
    if as_json:
        click.echo(orjson.dumps(findings, option=orjson.OPT_SERIALIZE_DATACLASS))
    else:
        for finding in findings:
            _print_finding(TextConsole(), finding)
    return EXIT_FAILED if any(finding.state == "problem" for finding in findings) else 0


def _print_finding(console: TextConsole, finding: Finding) -> None:
    mark, colour = _MARKS[finding.state]
    console.print(Text.assemble((mark, colour), " ", (finding.what, "bold"), "  ", finding.detail), soft_wrap=True)
    if finding.state != "ok":
        for label, text in (("means:", finding.cost), ("fix:", finding.mend)):
            if text:
                console.print(Text(f"    {label:<7}{text}", "dim"), soft_wrap=True)
