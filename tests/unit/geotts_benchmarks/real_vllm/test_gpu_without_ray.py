"""The benchmarks of `scripts/gpu-check` run on a machine with a GPU that has no Ray (docs/vllm.md)."""

import subprocess
import sys

import pytest

_WITHOUT_RAY = "import sys; sys.modules['ray'] = None; import "


@pytest.mark.parametrize("name", ["gpu", "gpu_cancel", "gpu_agreement", "draws", "prefix"])
def test_a_benchmark_of_the_vllm_engine_is_imported_where_ray_is_not_installed(name):
    program = f"{_WITHOUT_RAY}geotts_benchmarks.real_vllm.{name}, deployments.cli"
    imported = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert imported.returncode == 0, imported.stderr
