"""`geotts bench NAME`."""

from __future__ import annotations

import importlib

import click

# module of geotts_benchmarks → what it measures; NAME is the last part
_MODULES = {
    "service_time.local": "real photos through the whole service",
    "service_time.fanout": "the wall time with N rollouts, divided by the wall time with 1",
    "http_api.cancel": "work that still runs after clients have disconnected",
    "accuracy.photos": "accuracy and calibration on a folder of labelled photos",
    "accuracy.scenes": "accuracy on drawn scenes with signs in many scripts",
    "accuracy.ablation": "the accuracy that each kind of clue adds to the embedded engine",
    "library_parts.gazetteer": "building the gazetteer, and finding places by misspelt names",
    "library_parts.perception": "reading the signs of a photo: seconds and memory",
    "library_parts.maps": "the time to make a map of 500x500 pixels, encoding included",
    "library_parts.tools": (
        "the broker: how often it makes equal calls, the time of cached calls, results lost in a kill"
    ),
    "verifier.consensus": (
        "the accuracy that the verifier adds, the wrong majorities it detects, the calibration of its radii"
    ),
    "claims.check": "whether true and false claims are separated, and whether a false claim changes the answer",
    "library_parts.score": "rows that are scored in a second, and whether a killed run resumes exactly",
    "depth_and_stops.depth": (
        "rollouts saved and accuracy lost by stop policies; stragglers; deadlines; `auto` and `deep`"
    ),
    "service_time.overhead": "the time that loop and streaming add to the time of the engine",
    "service_time.tracing": "the loss of throughput by traces that follow the conventions for generative AI",
    "real_vllm.prefix": "the share of the cacheable prompt tokens that came from the cache, on a real engine",
    "real_vllm.draws": (
        "answers drawn again: the share of their prompts that came from the cache, and the time they take"
    ),
    "real_vllm.gpu": "the time of rollouts, compared with one plain batch of the same tokens; needs CUDA",
    "replicas.autoscale": "a step in load: from one Rollout replica to three and back",
    "replicas.faults": "Rollout replicas killed under load",
    "http_api.api": (
        "time to the first event, resumed streams, malformed requests, stalled readers, forbidden addresses"
    ),
    "service_time.control": (
        "milliseconds that the service adds to the time of its engine, and requests a second at 0 ms"
    ),
    "service_time.admission": "small photos decoded by the gateway's own process, compared with a process pool",
    "attacks.abuse": "floods of slow or endless requests while clients send requests; failing stores",
    "run_stores.stored": "the memory of a request in Redis and in a blob store, while it runs and after its end",
    "web_page.page": "memory and time of the web page with a queue of photos, in a real browser",
    "service_time.tokens": "chunks of text a second that one gateway core carries before its events are late",
    "released_rows.conformance": "rows in which GeoTTS has the same output as the authors' code",
    "machines.nodes": "machines that are lost, cut off or added under load, and a rolling update; needs root and Redis",
    "machines.chaos": "one fault after the other by a seeded schedule, under load; needs root and Redis",
    "endurance.soak": "an hour of mixed traffic: growth of memory, handles, tasks and the run store",
    "all": "every benchmark, one after the other; --write makes docs/benchmarks.md",
}
_MODULE_OF = {module.rpartition(".")[2]: module for module in _MODULES}
BENCHES = {name: _MODULES[module] for name, module in _MODULE_OF.items()}
"""Name → what it measures."""

NOT_IN_ALL = ("nodes", "chaos", "soak", "all")
"""They take long, and some need root."""


def benches_of_all() -> tuple[str, ...]:
    """What `bench all` runs."""
    return tuple(name for name in BENCHES if name not in NOT_IN_ALL)


class _BenchGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(BENCHES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in BENCHES:
            return None
        command: click.Command = importlib.import_module(f"geotts_benchmarks.{_MODULE_OF[cmd_name]}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Benchmarks"):
            formatter.write_dl(list(BENCHES.items()))


@click.group(cls=_BenchGroup)
def command() -> None:
    """Measure one thing: progress on stderr, one JSON object as the last line of stdout.

    The exit code is 0 if the benchmark ran, whatever the result. --quick gives a rough figure. It takes less than a
    minute, except for benchmarks that start machines.
    """
