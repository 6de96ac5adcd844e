"""A photo is sent and its stream is read to the end, as benchmarks do it."""

from geotts_benchmarks.harness import Located, locate

__all__ = ["Located", "locate"]
