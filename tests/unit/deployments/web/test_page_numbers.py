"""Numbers in the scripts of the page are those of the service."""

import math
import re
from pathlib import Path

import pytest

import deployments.web
from tts.domain.geo import EARTH_RADIUS_KM


def test_the_page_computes_the_radius_of_the_earth_from_the_ellipsoid_that_utm_needs():
    scripts = {path.name: path.read_text() for path in (Path(deployments.web.__file__).parent / "static").glob("*.js")}
    assert [name for name, text in scripts.items() if re.search(r"6371|6378\.?1", text)] == ["notations.js"]
    constants = dict(re.findall(r"const (\w+) = ([\d.]+);", scripts["notations.js"]))
    axis_m, eccentricity2 = (float(constants[name]) for name in ("A", "E2"))
    assert axis_m * (2 + math.sqrt(1 - eccentricity2)) / 3000 == pytest.approx(EARTH_RADIUS_KM, abs=1e-4)
