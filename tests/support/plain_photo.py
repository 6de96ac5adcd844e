"""The photo of tests that do not care what it shows: that of the benchmarks."""

from geotts_benchmarks.plain_photo import plain_photo

__all__ = ["plain_photo"]
