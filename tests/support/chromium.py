"""The browser of the tests: the one that `geotts bench page` measures with."""

from geotts_benchmarks.web_page.chromium import CHROMIUM, MISSING, Browser, Tab, chromium

__all__ = ["CHROMIUM", "MISSING", "Browser", "Tab", "chromium"]
