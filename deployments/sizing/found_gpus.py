"""How much memory the GPUs of this machine have."""

from __future__ import annotations

import shutil
import subprocess

_PATIENCE_S = 10.0
_MIB = 2**20


def gpu_memory_gb() -> float | None:
    """Of the smallest GPU, in units of 10^9 bytes, as NVIDIA's driver reports it; None where there is none."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    query = [tool, "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        found = subprocess.run(query, capture_output=True, text=True, timeout=_PATIENCE_S, check=True).stdout
        return min(float(line) for line in found.split()) * _MIB / 1e9
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
