"""The data sets of `geotts eval run`: one in each file, in this list, and those that other packages bring.

Another package brings one by the entry point `geotts.datasets`. No data set is part of the project.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from tts.errors import DataError
from tts.eval.datasets.base import Dataset
from tts.eval.datasets.folder import FOLDER
from tts.eval.datasets.geobench import GEOBENCH
from tts.eval.datasets.geoseek import GEOSEEK_VAL
from tts.eval.datasets.im2gps3k import IM2GPS3K
from tts.eval.datasets.imageo import IMAGEO
from tts.eval.datasets.mapbench import MAPBENCH
from tts.eval.datasets.street_view_text import STREET_VIEW_TEXT
from tts.eval.datasets.yfcc4k import YFCC4K
from tts.eval.sample import LeftOut, Sample, in_random_order
from tts.extensions import Registry

_OWN_DATASETS = (FOLDER, IM2GPS3K, YFCC4K, MAPBENCH, GEOBENCH, IMAGEO, GEOSEEK_VAL, STREET_VIEW_TEXT)
DATASETS: Registry[Dataset] = Registry("geotts.datasets", {dataset.name: dataset for dataset in _OWN_DATASETS})


def load_dataset(
    name: str,
    path: Path,
    *,
    seed: int = 0,
    skip_unusable: bool = False,
    on_left_out: Callable[[Sequence[LeftOut]], None] = lambda left_out: None,
) -> list[Sample]:
    """Samples in an order that is random in their names and stable in `seed`.

    `on_left_out` is told which rows make no sample. Unless `skip_unusable`, only those may be left out that the data
    set leaves out by its nature.

    Raises:
        DataError: when there is no such data set, what it needs is not under `path`, or rows cannot be used; the
            message says what it needs.
    """
    dataset = DATASETS.get(name)
    if dataset is None:
        raise DataError(f"there is no data set {name!r}; there are: {', '.join(DATASETS)}")
    if not path.exists():
        raise DataError(f"{path} does not exist. {dataset.name} needs {dataset.needs}")
    made = dataset.load(path, seed)
    left_out = [one for one in made if isinstance(one, LeftOut)]
    unusable = [one for one in left_out if not one.is_expected]
    if unusable and not skip_unusable:
        hint = ". To run without them: geotts eval run --skip-unusable" if len(left_out) < len(made) else ""
        raise DataError(describe_left_out(unusable) + hint)
    on_left_out(left_out)
    samples = in_random_order(one for one in made if isinstance(one, Sample))
    if not samples:
        why = f" ({describe_left_out(left_out)})" if left_out else ""
        raise DataError(f"{path} holds no samples{why}. {dataset.name} needs {dataset.needs}")
    twice = [one.key for one, other in pairwise(samples) if one.id == other.id]
    if twice:
        raise DataError(f"{path} names {len(twice)} photos twice, such as {twice[0]}: leave one row for each")
    return samples


def describe_left_out(left_out: Sequence[LeftOut]) -> str:
    """How many rows there are for each reason, and the first of them."""
    first: dict[str, str] = {}
    for one in left_out:
        first.setdefault(one.reason, one.key)
    counts = Counter(one.reason for one in left_out)
    return "; ".join(f"{count} {reason}, first {first[reason]}" for reason, count in counts.items())
