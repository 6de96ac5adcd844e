"""The receiver of traces and metrics of tests: that of the benchmarks."""

from geotts_benchmarks.otlp_receiver import receiving

__all__ = ["receiving"]
