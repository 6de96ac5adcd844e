"""The journal in which the scripted engine notes each turn that it begins."""

from geotts_benchmarks.machines.engine_journal import read_journal

__all__ = ["read_journal"]
