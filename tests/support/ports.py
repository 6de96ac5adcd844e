"""Free ports for tests: found as those of the benchmarks."""

from geotts_benchmarks.harness import free_port

__all__ = ["free_port"]
