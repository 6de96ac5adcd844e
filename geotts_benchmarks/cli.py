"""`geotts bench NAME`."""

from __future__ import annotations

import importlib

import click

# name → what it measures; the module is geotts_benchmarks.NAME
BENCHES = {
    "local": "real photos through the whole service",
    "fanout": "the wall time with N rollouts, divided by the wall time with 1",
    "cancel": "work that still runs after clients have disconnected",
    "photos": "accuracy and calibration on a folder of labelled photos",
    "scenes": "accuracy on drawn scenes with signs in many scripts",
    "ablation": "the accuracy that each kind of clue adds to the embedded engine",
    "gazetteer": "building the gazetteer, and finding places by misspelt names",
    "perception": "reading the signs of a photo: seconds and memory",
    "maps": "the time to make a map of 500x500 pixels, encoding included",
    "tools": "the broker: how often it makes equal calls, the time of cached calls, results lost in a kill",
    "consensus": "the accuracy that the verifier adds, the wrong majorities it detects, the calibration of its radii",
    "check": "whether true and false claims are separated, and whether a false claim changes the answer",
    "score": "rows that are scored in a second, and whether a killed run resumes exactly",
    "depth": "rollouts saved and accuracy lost by stop policies; stragglers; deadlines; `auto` and `deep`",
    "overhead": "the time that loop and streaming add to the time of the engine",
    "tracing": "the loss of throughput by traces that follow the conventions for generative AI",
    "prefix": "the share of the cacheable prompt tokens that came from the cache, on a real engine",
    "draws": "answers drawn again: the share of their prompts that came from the cache, and the time they take",
    "gpu": "the time of rollouts, compared with one plain batch of the same tokens; needs CUDA",
    "autoscale": "a step in load: from one Rollout replica to three and back",
    "faults": "Rollout replicas killed under load",
    "api": "time to the first event, resumed streams, malformed requests, stalled readers, forbidden addresses",
    "control": "milliseconds that the service adds to the time of its engine, and requests a second at 0 ms",
    "admission": "small photos decoded by the gateway's own process, compared with a process pool",
    "abuse": "floods of slow or endless requests while clients send requests; failing stores",
    "stored": "the memory of a request in Redis and in a blob store, while it runs and after its end",
    "page": "memory and time of the web page with a queue of photos, in a real browser",
    "tokens": "chunks of text a second that one gateway core carries before its events are late",
    "conformance": "rows in which GeoTTS has the same output as the authors' code",
    "nodes": "machines that are lost, cut off or added under load, and a rolling update; needs root and Redis",
    "chaos": "one fault after the other by a seeded schedule, under load; needs root and Redis",
    "soak": "an hour of mixed traffic: growth of memory, handles, tasks and the run store",
    "all": "every benchmark, one after the other; --write makes docs/benchmarks.md",
}


NOT_IN_ALL = ("nodes", "chaos", "soak", "all")
"""They take long, and some need root."""


def benches_of_all() -> tuple[str, ...]:
    """What `bench all` runs."""
    return tuple(name for name in BENCHES if name not in NOT_IN_ALL)


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

    The exit code is 0 if the benchmark ran, whatever the result. --quick gives a rough figure. It takes less than a
    minute, except for benchmarks that start machines.
    """
