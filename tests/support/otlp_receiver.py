"""The receiver of traces and metrics of tests: that of the benchmarks."""

from geotts_benchmarks.service_time.otlp_receiver import run_receiver

__all__ = ["run_receiver"]
