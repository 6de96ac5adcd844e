"""Tests take what they share with the benchmarks from `support`. Only tests of benchmarks import them."""

import ast
from pathlib import Path

from support.docs_blocks import ROOT

_TESTS = ROOT / "tests"
_OF_BENCHMARKS = {
    "support",
    "unit/geotts_benchmarks",
    "unit/repository/test_threat_model.py",  # the names of all benchmarks
    "cluster/test_scaling_and_faults.py",  # `bench autoscale` and `bench faults`
    "real_vllm/test_gpu.py",  # `bench gpu` and `bench prefix`
}


def imports_benchmarks(source: str) -> bool:
    """Whether a module of this source imports the package of the benchmarks."""
    modules = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append(node.module or "")
    return any(module.partition(".")[0] == "geotts_benchmarks" for module in modules)


def of_benchmarks(path: Path) -> bool:
    inside = path.relative_to(_TESTS)
    return any(str(place) in _OF_BENCHMARKS for place in (inside, *inside.parents))


def test_only_tests_of_benchmarks_import_benchmarks():
    files = [path for path in _TESTS.rglob("*.py") if not of_benchmarks(path)]
    assert [str(path.relative_to(_TESTS)) for path in files if imports_benchmarks(path.read_text())] == []


def test_an_import_of_a_benchmark_is_found():
    assert imports_benchmarks("import geotts_benchmarks.harness")
    assert imports_benchmarks("def f():\n    from geotts_benchmarks.replicas.faults import run")
    assert not imports_benchmarks('"geotts_benchmarks"')
    assert all((_TESTS / place).exists() for place in _OF_BENCHMARKS)
