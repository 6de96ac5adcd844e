"""The folder of the photographs for evaluation. It exists only where somebody has put them."""

from geotts_benchmarks.harness import DEFAULT_PHOTOS

__all__ = ["DEFAULT_PHOTOS"]
