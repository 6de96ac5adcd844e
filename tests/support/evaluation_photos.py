"""The folder of the photographs for evaluation. It exists only where somebody has put them."""

import os
from pathlib import Path

DEFAULT_PHOTOS = Path(os.environ.get("GEOTTS_PHOTOS", "../shared/data/photos"))
