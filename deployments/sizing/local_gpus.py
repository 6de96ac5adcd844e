"""The GPUs of this machine, as NVIDIA's driver reports them."""

from __future__ import annotations

import os
import shutil
import subprocess

from deployments.sizing.gpu_plan import Gpus

_PATIENCE_S = 10.0
_MIB = 2**20


def found_gpus() -> Gpus | None:
    """Those that CUDA_VISIBLE_DEVICES leaves, each taken as large as the smallest of them; None where there is none."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    query = [tool, "--query-gpu=index,uuid,memory.total", "--format=csv,noheader,nounits"]
    try:
        listing = subprocess.run(query, capture_output=True, text=True, timeout=_PATIENCE_S, check=True).stdout
        rows = [[cell.strip() for cell in line.split(",")] for line in listing.splitlines() if line.strip()]
        sizes = [float(memory) * _MIB / 1e9 for index, uuid, memory in rows if _is_visible(index, uuid)]
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return Gpus(count=len(sizes), memory_gb=round(min(sizes), 1)) if sizes else None


def _is_visible(index: str, uuid: str) -> bool:
    """A device is named by its number or by the beginning of its UUID."""
    stated = os.environ.get("CUDA_VISIBLE_DEVICES")
    if stated is None:
        return True
    named = [name.strip() for name in stated.split(",") if name.strip()]
    return any(name == index or (name.startswith("GPU-") and uuid.startswith(name)) for name in named)
