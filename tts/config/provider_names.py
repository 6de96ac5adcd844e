"""The names of all providers that a configuration may use. A new provider gets its entry here (`docs/tools.md`)."""

from __future__ import annotations

from typing import Literal

ProviderName = Literal[
    "offline",
    "amap",
    "google",
    "osm",
    "opencage",
    "serper",
    "tavily",
    "ydc",
    "brave",
    "searxng",
    "tape",
    "serper_lens",
    "google_vision",
    "serpapi_lens",
]
"""Each has a file in `tools/providers`, except `offline` (the embedded data) and `tape` (recorded results)."""
