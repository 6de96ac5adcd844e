"""Clusters of Ray for tests, started as those of the benchmarks: one `ray start` for each machine."""

from geotts_benchmarks.machines.ray_nodes import GCS_PORT, ray_cluster, stop_family, tool

__all__ = ["GCS_PORT", "ray_cluster", "stop_family", "tool"]
