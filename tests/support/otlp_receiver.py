"""The receiver of traces and metrics of tests: that of the benchmarks."""

from geotts_benchmarks.otlp_receiver import run_receiver

__all__ = ["run_receiver"]
