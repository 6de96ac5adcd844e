"""Checkpoints with random weights, as the benchmarks on real shapes write them."""

from geotts_benchmarks.real_vllm.random_weights import Shape, write_checkpoint

__all__ = ["Shape", "write_checkpoint"]
