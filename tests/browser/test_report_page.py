"""The report in a real browser: it shows something, in light and dark, and complains about nothing."""

import subprocess

import numpy as np
import pytest
from PIL import Image
from support.chromium import CHROMIUM, MISSING

from tts.domain.answer import Answer, Radius, RunCount, StopReason, Timing
from tts.domain.hypothesis import Level
from tts.domain.trajectory import Run
from tts.report.html_report import report_page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)


@pytest.fixture(scope="module")
def report(tmp_path_factory, cartographer, sign_photo):
    answer = Answer(
        lat=53.5, lon=10.0, radius_km=Radius(p50=3, p90=30), level=Level.CITY, abstained=False, country="Germany",
        city="<b>Altona</b>", confidence=0.8, target_radius_km=25,
        explanation="<script>console.error(1)</script>",
        n=RunCount(asked=1, planned=1, run=1, answered=1), stop_reason=StopReason.ANSWERED, timing=Timing(total_s=1),
    )  # fmt: skip
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_page(Run(answer=answer), cartographer, sign_photo))
    return path


@pytest.mark.parametrize(("scheme", "background"), [("light", (251, 250, 247)), ("dark", (20, 23, 28))])
def test_the_report_is_shown_in_a_browser_without_console_errors(report, tmp_path, scheme, background):
    picture = tmp_path / "shot.png"
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *dark,
               "--enable-logging=stderr", "--v=0", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1000,1200",
               f"--screenshot={picture}", report.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    # Chromium complains about its own pages on a slow machine
    console_errors = [
        line for line in done.stderr.splitlines() if "CONSOLE" in line and "source: chrome://" not in line
    ]
    assert console_errors == []
    with Image.open(picture) as shot:
        pixels = np.asarray(shot.convert("RGB"))
    assert pixels.reshape(-1, 3).std(axis=0).min() > 10
    assert np.allclose(pixels[-5, 5], background, atol=3)
