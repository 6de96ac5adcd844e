"""The replicas of a deployment, found as the benchmark of faults finds them."""

from geotts_benchmarks.faults import replicas_of

__all__ = ["replicas_of"]
