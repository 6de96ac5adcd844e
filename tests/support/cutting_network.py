"""The network of tests that cuts connections: that of the benchmarks."""

from geotts_benchmarks.http_api.cutting_network import CuttingTransport

__all__ = ["CuttingTransport"]
