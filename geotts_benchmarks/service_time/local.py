"""`geotts bench local`: real photos through the whole service on this machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from deployments.config import AppArgs, GatewayConfig
from deployments.launch.cluster import serve_configuration
from geotts_benchmarks.harness import (
    DEFAULT_PHOTOS,
    Result,
    client,
    family_pss_gb,
    free_port,
    locate,
    median,
    percentile,
    photo_labels,
    print_progress,
    report,
)
from tts.domain.kind_of_n import KindOfN


@click.command()
@click.option("--photos", type=click.Path(path_type=Path), default=DEFAULT_PHOTOS, show_default=True)
@click.option("--n", "n", type=click.IntRange(1, 32), default=4, show_default=True, help="Rollouts for each photo.")
@click.option("--quick", is_flag=True, help="Use only every fifth photo.")
def command(photos: Path, n: int, quick: bool) -> None:
    """Time to first event and to answer, memory and failures over a folder of photos, one at a time."""
    report("local", lambda: measure(photos, n, quick))


def measure(photos: Path, n: int, quick: bool) -> Result:
    """Locate the photos one after the other with a service of its own: seconds, PSS in GiB, failures."""
    labels = photo_labels(photos)[:: 5 if quick else 1]
    args = AppArgs(gateway=GatewayConfig(port=free_port()))
    with serve_configuration(args) as service:
        print_progress(f"ready after {service.ready_s} s; {len(labels)} photos, n={n}")
        result = asyncio.run(_run(service.url, photos, labels, n))
        result["pss_gb"] = family_pss_gb()
    return result | {"ready_s": service.ready_s, "photos": len(labels), "n": n, "kind_of_n": str(KindOfN.ONE_POLICY)}


async def _run(url: str, photos: Path, labels: list[dict[str, object]], n: int) -> Result:
    totals: list[float] = []
    text_totals: list[float] = []
    firsts: list[float] = []
    failures: list[str] = []
    async with client() as http:
        await locate(
            http, url, (photos / str(labels[0]["file"])).read_bytes(), n_parallel=1, depth="deep", stop="none"
        )  # warm
        for i, label in enumerate(labels):
            photo = (photos / str(label["file"])).read_bytes()
            found = await locate(http, url, photo, n_parallel=n, depth="deep", stop="none", seed=1)
            if found.failure:
                failures.append(f"{label['id']}: {found.failure}")
                print_progress(failures[-1])
                continue
            totals.append(found.total_s)
            firsts.append(found.first_event_s)
            if label.get("has_legible_text"):
                text_totals.append(found.total_s)
            if i % 10 == 9:
                print_progress(f"{i + 1}/{len(labels)} photos, median {median(totals):.2f} s")
    return {
        "p50_s": round(median(totals), 3),
        "p95_s": round(percentile(totals, 0.95), 3),
        "text_p50_s": round(median(text_totals), 3),
        "first_event_ms": round(median(firsts) * 1e3, 1),
        "failures": len(failures),
    }
