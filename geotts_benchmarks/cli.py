"""`geotts bench NAME`."""

from __future__ import annotations

import importlib

import click

# name → what it measures; the module is geotts_benchmarks.NAME
BENCHES = {
    "local": "real photos through the whole service",
    "fanout": "wall time at N rollouts over wall time at 1",
    "cancel": "what clients that go away leave running",
    "photos": "accuracy and calibration on a folder of labelled photos",
    "scenes": "accuracy on project-made signs in many scripts",
    "ablation": "what each kind of clue is worth to the embedded engine",
    "gazetteer": "building it, and finding places by misspelt names",
    "perception": "reading the signs of a photo: seconds and memory",
    "maps": "how long a 500x500 map takes, encoding included",
    "tools": "the broker: calls made once, cached calls, what a killed process loses",
    "consensus": "what the verifier adds, sees through, and promises",
    "check": "claims told true from false, and what a false claim moves",
    "score": "rows scored a second, and whether a killed run resumes exactly",
    "depth": "what stop policies save and lose; stragglers, deadlines, auto against deep",
    "overhead": "what the loop and the streaming cost beyond the engine's own time",
    "prefix": "how much of what could be cached was, on a real engine",
    "gpu": "rollouts against one plain batch of the same tokens; needs CUDA",
    "autoscale": "a step in load: from one Rollout replica to three and back",
    "faults": "Rollout replicas killed under load",
    "api": "first event, resuming, garbage, stalled readers, many streams, forbidden addresses",
    "control": "milliseconds the service adds to its engine, and requests a second without one",
    "abuse": "slowloris, endless headers, silent names, slow bodies and failing stores, while others ask",
    "stored": "what a request takes in Redis and in a blob store, during and after",
    "tokens": "chunks of text that a gateway core carries until its events are late",
    "conformance": "rows of the released systems' behaviour that the served code equals",
    "all": "every benchmark, one after the other; --write makes docs/benchmarks.md",
}


def benches_of_all() -> tuple[str, ...]:
    """What `bench all` runs."""
    return tuple(name for name in BENCHES if name != "all")


class _Benches(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(BENCHES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in BENCHES:
            return None
        command: click.Command = importlib.import_module(f"geotts_benchmarks.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Benchmarks"):
            formatter.write_dl(list(BENCHES.items()))


@click.group(cls=_Benches)
def command() -> None:
    """Measure one thing: progress on stderr, one JSON object as the last line of stdout.

    Exit code 0 when it ran, whatever it found. --quick gives a rough figure in under a minute.
    """
