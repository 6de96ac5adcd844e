"""The data sets of `geotts eval run`: one in each file, in this list, and those that other packages bring.

Another package brings one by the entry point `geotts.datasets`. No data set is part of the project.
"""

from __future__ import annotations

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
from tts.eval.sample import Sample, in_random_order
from tts.extensions import Registry

_OWN_DATASETS = (FOLDER, IM2GPS3K, YFCC4K, MAPBENCH, GEOBENCH, IMAGEO, GEOSEEK_VAL, STREET_VIEW_TEXT)
DATASETS: Registry[Dataset] = Registry("geotts.datasets", {dataset.name: dataset for dataset in _OWN_DATASETS})


def load_dataset(name: str, path: Path, *, seed: int = 0) -> list[Sample]:
    """Samples in an order that is random in their names and stable in `seed`.

    Raises:
        DataError: when there is no such data set, or what it needs is not under `path`; the message says what it needs.
    """
    dataset = DATASETS.get(name)
    if dataset is None:
        raise DataError(f"there is no data set {name!r}; there are: {', '.join(DATASETS)}")
    if not path.exists():
        raise DataError(f"{path} does not exist. {dataset.name} needs {dataset.needs}")
    samples = in_random_order(dataset.load(path, seed))
    if not samples:
        raise DataError(f"{path} holds no samples. {dataset.name} needs {dataset.needs}")
    if len({sample.id for sample in samples}) < len(samples):
        raise DataError(f"{path} names a photo twice")
    return samples
