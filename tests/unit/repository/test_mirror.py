"""`tests/unit` has the folders of the packages, and tests of a package import no package above it.

Outside of `tests/unit`, only tests of benchmarks import benchmarks; others take what they share from `support`.
"""

import ast

import pytest
from support.docs_blocks import ROOT

LAYERS = ("geotts_benchmarks", "deployments", "tools", "tts", "geotts_client")  # each imports those after it
TESTED_ELSEWHERE = {"tts/ports": "protocols and what they exchange: `tests/contract` tests the implementations"}
OF_NO_PACKAGE = {"repository": "files of the repository: documentation, configurations, the layout of the tests"}

_TESTS = ROOT / "tests"
_UNIT = _TESTS / "unit"
_IMPORT_BENCHMARKS = {
    "support",
    "unit/geotts_benchmarks",
    "unit/repository/test_threat_model.py",  # the names of all benchmarks
    "cluster/test_scaling_and_faults.py",  # `bench autoscale` and `bench faults`
    "real_vllm/test_gpu.py",  # `bench gpu` and `bench prefix`
}


def folders_with_code(root=ROOT, packages=LAYERS):
    """Folders of the packages that have more than an `__init__.py`."""
    files = (path for package in packages for path in (root / package).rglob("*.py") if path.name != "__init__.py")
    return {str(path.parent.relative_to(root)) for path in files}


def folders_with_tests(unit=_UNIT):
    return {str(path.parent.relative_to(unit)) for path in unit.rglob("test_*.py")}


def packages_imported(source):
    """The top packages that a module of this source imports, also within its functions."""
    modules = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append(node.module or "")
    return {module.partition(".")[0] for module in modules}


def imported_from_above(package, unit=_UNIT):
    """Test files of a package that import a package above it, each with what it imports."""
    above = set(LAYERS[: LAYERS.index(package)])
    files = {str(path.relative_to(unit)): path.read_text("utf-8") for path in (unit / package).rglob("*.py")}
    return {name: found for name, source in files.items() if (found := packages_imported(source) & above)}


def imports_benchmarks(path):
    inside = path.relative_to(_TESTS)
    return any(str(place) in _IMPORT_BENCHMARKS for place in (inside, *inside.parents))


def test_every_folder_with_code_has_a_folder_with_tests():
    assert sorted(folders_with_code() - folders_with_tests() - set(TESTED_ELSEWHERE)) == []


def test_every_folder_with_tests_is_a_folder_of_a_package():
    assert sorted(folders_with_tests() - folders_with_code() - set(OF_NO_PACKAGE)) == []


def test_the_exceptions_are_needed():
    assert set(TESTED_ELSEWHERE) <= folders_with_code() - folders_with_tests()
    assert set(OF_NO_PACKAGE) <= folders_with_tests() - folders_with_code()
    assert all((_TESTS / place).exists() for place in _IMPORT_BENCHMARKS)


@pytest.mark.parametrize("package", LAYERS)
def test_tests_of_a_package_import_no_package_above_it(package):
    assert imported_from_above(package) == {}


def test_only_tests_of_benchmarks_import_benchmarks():
    files = [path for path in _TESTS.rglob("*.py") if not imports_benchmarks(path)]
    found = [path for path in files if "geotts_benchmarks" in packages_imported(path.read_text("utf-8"))]
    assert [str(path.relative_to(_TESTS)) for path in found] == []


def test_an_import_is_found_wherever_it_stands():
    assert packages_imported("import deployments.config as c") == {"deployments"}
    assert packages_imported("def f():\n    from geotts_benchmarks.replicas.faults import run") == {"geotts_benchmarks"}
    assert packages_imported('"geotts_benchmarks"') == set()


def test_a_missing_folder_a_folder_of_no_package_and_an_import_from_above_are_found(tmp_path):
    for name, source in {
        "tts/a/code.py": "",
        "tts/b/__init__.py": "",
        "tests/unit/tts/c/test_c.py": "from deployments.cli import cli",
        "tests/unit/tts/c/test_d.py": "from tts.a import code",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    assert folders_with_code(tmp_path) == {"tts/a"}
    assert folders_with_tests(tmp_path / "tests" / "unit") == {"tts/c"}
    assert imported_from_above("tts", tmp_path / "tests" / "unit") == {"tts/c/test_c.py": {"deployments"}}
