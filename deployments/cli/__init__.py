"""The `geotts` command: one subcommand a file, loaded only when it is used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.metadata import version

import click
from pydantic import ValidationError

from deployments.cli.console import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, fail
from geotts_client.options import LocateOptions
from tts.errors import ConfigError, DataError, GeoTTSError, RequestError
from tts.extensions import Registry
from tts.field_errors import field_error_text
from tts.net.url_secrets import mask_secrets

# name → (module with a `command`, one line for --help). Modules are imported on use: Ray alone takes a second. Where
# none is named, the command is the entry point of that name in the group `geotts.commands`, as are those of other
# packages.
_COMMANDS = {
    "locate": ("deployments.cli.locate", "Find out where photos were taken."),
    "bundle": ("deployments.cli.bundle", "Fetch the evidence of an answer as one file, or check such a file."),
    "export": ("deployments.cli.export", "Write answers as GeoJSON, KML, CSV, GeoParquet, geo: URIs, XMP or ATIF."),
    "check": ("deployments.cli.check", "Check whether photos were taken at a claimed place."),
    "demo": ("deployments.cli.demo", "Build the data, start the service, locate two sample photos, and stop."),
    "serve": ("deployments.cli.serve", "Run the service."),
    "profile": ("deployments.cli.profile", "List the profiles, or import the prompts of a published model."),
    "mcp": ("deployments.cli.mcp", "Serve the Model Context Protocol on stdin and stdout."),
    "keys": ("deployments.cli.keys", "Make keys for the service."),
    "endpoints": (
        "deployments.cli.endpoints",
        "List the model endpoints of a running service, or take one out of use.",
    ),
    "accept": (
        "deployments.cli.accept",
        "Test a new engine on your photos, report its faults, and fit its calibration.",
    ),
    "doctor": ("deployments.cli.doctor", "Report what is installed, what is missing, and what to do."),
    "tools": ("deployments.cli.tools", "List the tools, or call one by hand."),
    "tape": ("deployments.cli.tape", "Inspect, convert and export tapes: recorded results of tools."),
    "data": ("deployments.cli.data", "Build, inspect or remove the embedded data."),
    "config": ("deployments.cli.config", "Show the effective configuration."),
    "eval": ("deployments.cli.eval", "Score outputs, run data sets, compare and report runs."),
    "plan": ("deployments.cli.plan", "Show what a budget allows, by recorded runs."),
    "calibrate-depth": ("deployments.cli.calibrate_depth", "Fit the choice of depth to recorded runs."),
    "calibrate-stop": ("deployments.cli.calibrate_stop", "Fit the stop policy `loss` to recorded runs."),
    "calibrate": ("deployments.cli.calibrate", "Fit radii and confidence to recorded runs."),
    "bench": ("", "Run a benchmark. The last line is one JSON object."),
    "completion": ("deployments.cli.completion", "Print the shell script that completes commands and options."),
}
_PACKAGE_COMMANDS: Registry[click.Command] = Registry("geotts.commands")


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS, *_names_of_other_packages()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module, _ = _COMMANDS.get(cmd_name, ("", ""))
        if module:
            return _command_of_module(module)
        return _installed_command(cmd_name) if cmd_name in _COMMANDS or cmd_name in _PACKAGE_COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])
        if added := _names_of_other_packages():
            with formatter.section("Commands of other packages"):
                formatter.write_dl([(name, f"From the package {_PACKAGE_COMMANDS.owner(name)}.") for name in added])


def _command_of_module(module: str) -> click.Command:
    command: click.Command = importlib.import_module(module).command
    return command


def _names_of_other_packages() -> list[str]:
    """None of these commands takes the name of one of ours."""
    return sorted(name for name in _PACKAGE_COMMANDS if name not in _COMMANDS)


def _installed_command(name: str) -> click.Command:
    """The command that a package brings. Raises ConfigError where none does."""
    if name not in _PACKAGE_COMMANDS:
        raise ConfigError(f"`geotts {name}` is not installed: no package has the entry point geotts.commands / {name}")
    return _PACKAGE_COMMANDS[name]


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("geotts"), prog_name="geotts")
def cli() -> None:
    """Find out where a photo was taken. Agents look at it in parallel, with maps and search; a verifier weighs what
    they find.

    `geotts COMMAND --help` explains a command.
    """


def main() -> None:
    """Entry point: runs the command and turns our errors into one line and an exit code.

    0 done, 1 failed, 2 wrong use or configuration, 3 faults found (`accept`), 130 interrupted.
    """
    try:
        code = cli.main(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        code = fail("interrupted", EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        code = EXIT_USAGE
    except (ConfigError, DataError, RequestError) as error:
        code = fail(error.detail, EXIT_USAGE)
    except ValidationError as error:
        code = fail("\n".join(_wrong_fields(error)), EXIT_USAGE)
    except OSError as error:
        if error.filename is None:
            raise
        code = fail(f"{error.filename}: {error.strerror}", EXIT_USAGE)
    except GeoTTSError as error:
        code = fail(_detail_with_cause(error), EXIT_FAILED)
    sys.exit(code if isinstance(code, int) else 0)


def _wrong_fields(error: ValidationError) -> Iterator[str]:
    """One line for each wrong field. The value is left out, because it may be long or secret."""
    for wrong in error.errors(include_url=False, include_input=False):
        name = ".".join(str(part) for part in wrong["loc"])
        message = field_error_text(wrong, LocateOptions)
        yield f"{name}: {message}" if name else message


def _detail_with_cause(error: GeoTTSError) -> str:
    """The detail, and the first line of what it came from: here nobody but the user of this machine reads it."""
    cause = str(error.__cause__ or "").strip().partition("\n")[0]
    return error.detail if not cause or cause in error.detail else f"{error.detail}: {mask_secrets(cause)}"
