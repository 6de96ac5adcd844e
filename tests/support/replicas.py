"""The replicas of a deployment and their work, as the benchmarks find them."""

from geotts_benchmarks.replicas.faults import replicas_of
from geotts_benchmarks.replicas.replica_probe import Probe

__all__ = ["Probe", "replicas_of"]
