"""`geotts eval rewards`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click

from deployments.cli import shared_options
from deployments.cli.console import STDERR
from tts.eval.photo_table import read_photo_table
from tts.eval.rewarding.reward_inputs import (
    RewardInputs,
    read_conclusions,
    read_positions,
    read_similarities,
    read_table_values,
)
from tts.eval.rewarding.rewarded_output import outputs_of
from tts.eval.rewarding.systems import FORMS, SYSTEMS, Form, System, compute_reward
from tts.rewards.papers.spotagent_reward import learnable_at_km
from tts.toolkit.reverse_cache.tables import read_tables

geocoded_option = shared_options.table(
    "--geocoded",
    read_positions,
    'JSON object with the positions of answers that are names: {"Germany; Holstein; Kiel": [54.3, 10.1]}.',
)


@click.command()
@click.argument("run_file", metavar="RUN", type=shared_options.EXISTING_FILE)
@click.option("--system", type=click.Choice(SYSTEMS), required=True, help="The system whose reward is computed.")
@click.option(
    "--form",
    type=click.Choice(FORMS),
    default="released",
    show_default=True,
    help="The form of the reward: that of the authors' code, or that of their paper.",
)
@shared_options.table(
    "--given",
    read_table_values,
    "Rows with sample, rollout, and inputs of the reward. docs/evaluation.md has the fields.",
)
@geocoded_option
@shared_options.table(
    "--similarities",
    read_similarities,
    'For geoagent: JSON object from "stated | true" names to the cosine of their embeddings.',
)
@shared_options.table(
    "--conclusions",
    read_conclusions,
    "For geoagent: rows with sample, rollout, and the conclusions of a second reader at the three stages.",
)
@click.option(
    "--labels",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with REVERSE's tables of recorded searches. The rewards of calls and marks come from their labels.",
)
@shared_options.table(
    "--photos",
    read_photo_table,
    "With --labels: a table that maps photos (sha256 or file) to recorded paths (image_path).",
)
def rewards(
    run_file: Path,
    system: str,
    form: str,
    given: Any,
    geocoded: Any,
    similarities: Any,
    conclusions: Any,
    labels: Path | None,
    photos: Any,
) -> None:
    """Compute the reward of each rollout of RUN as the authors of a system do. Prints one JSON line for each rollout,
    and the mean on stderr.

    RUN is a run file of `geotts eval run`, or rows with an answer and a true position as for `geotts eval score`; for
    georeasoner, rows with `shares`. If an input of a reward is missing, the reward is null and `missing` names the
    input. For reverse there are also rewards of single calls and marks, from `tool_rewards` of a row or from --labels.
    For spotagent, stderr also has the number of photos that are worth training on. docs/evaluation.md has the source of
    each formula.
    """
    known_labels = None if labels is None else read_tables(labels, photos or {})
    inputs = RewardInputs(geocoded or {}, similarities, conclusions or {}, known_labels)
    values = []
    distances_km: dict[str, list[float | None]] = defaultdict(list)
    for count, output in enumerate(outputs_of(run_file), 1):
        more = (given or {}).get((output.sample, output.rollout), {})
        made = compute_reward(output.with_given(more), cast(System, system), inputs, cast(Form, form))
        values.append(made.reward)
        distances_km[output.sample].append(made.parts.get("km"))
        click.echo(made.json_bytes().decode())
        if count % 1000 == 0:
            STDERR.print(f"  {count} rewarded")
    known = [value for value in values if value is not None]
    mean = f"{sum(known) / len(known):.4f}" if known else "none"
    STDERR.print(f"{system}: {len(known)} of {len(values)} rewarded, mean {mean}")
    if system == "spotagent":
        _print_learnable(list(distances_km.values()))


def _print_learnable(photos: Sequence[Sequence[float | None]]) -> None:
    """How many photos some rollouts place within a distance and others do not."""
    counts = Counter(within_km for distances_km in photos for within_km in learnable_at_km(distances_km))
    shares = ", ".join(f"{within_km:g} km {counts[within_km]}" for within_km in sorted(counts)) or "none"
    STDERR.print(f"photos worth training on, of {len(photos)}: {shares}")
