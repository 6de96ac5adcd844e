"""Writes the reports of `geotts locate --html`."""

from __future__ import annotations

from pathlib import Path

from deployments.config import AppArgs
from tts.domain.photo_cleaning import load_photo
from tts.domain.trajectory import Run
from tts.geodata.store import DataStore
from tts.report.html_report import report_page


class HtmlReports:
    """One file for one photo; for several, `report.html` becomes `report-1.html`, `report-2.html`, …"""

    def __init__(self, path: Path, count: int, args: AppArgs) -> None:
        self._path = path
        self._n_reports = count
        self._limits = args.gateway.photo
        self._cartographer = DataStore(args.data_dir).cartographer()
        self._n_written = 0

    def write(self, label: str, raw: bytes, run: Run) -> Path:
        """Raises OSError when the file cannot be written."""
        self._n_written += 1
        path = self._path
        if self._n_reports > 1:
            path = path.with_name(f"{path.stem}-{self._n_written}{path.suffix or '.html'}")
        photo = load_photo(raw, self._limits)
        path.write_text(report_page(run, self._cartographer, photo, title=Path(label).name), encoding="utf-8")
        return path
