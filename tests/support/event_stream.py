"""A photo is sent and its event stream is read to the end, as benchmarks do it."""

from geotts_benchmarks.harness import TimedRequest, locate

__all__ = ["TimedRequest", "locate"]
