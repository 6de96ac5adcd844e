"""The locks hold hashes of everything, and the bill of materials made from one is valid CycloneDX."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).parents[3]


def pins(name):
    return re.findall(r"^([\w.-]+)==(\S+)", (ROOT / name).read_text(), re.MULTILINE)


LOCKS = sorted(str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.lock"), *ROOT.glob("image/*.lock")))


def test_the_locks_of_the_image_are_checked():
    assert LOCKS == ["image/cpu.lock", "image/cuda.lock", "requirements-vllm.lock", "requirements.lock"]


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_a_lock_has_hashes(name):
    text = (ROOT / name).read_text()
    parts = re.split(r"^(?=[^\s#])", text, flags=re.MULTILINE)[1:]  # a requirement that is no pin would be one more
    assert len(parts) == len(pins(name)) > 100
    assert [part.split()[0] for part in parts if "--hash=sha256:" not in part] == []


def test_the_bill_of_materials_is_valid_and_whole():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "sbom.py"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(done.stdout) is None
    bill = json.loads(done.stdout)
    assert {(c["name"], c["version"]) for c in bill["components"]} == set(pins("requirements.lock"))
    assert all(component["hashes"] for component in bill["components"])
    depends = {entry["ref"]: entry.get("dependsOn", []) for entry in bill["dependencies"]}
    assert any(ref.startswith("httpx==") for ref in depends["geotts"])
    (httpcore,) = [ref for ref in depends if ref.startswith("httpcore==")]
    assert any(httpcore in required for ref, required in depends.items() if ref.startswith("httpx=="))


def test_a_bill_that_breaks_the_schema_is_found():
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str('{"bomFormat": "CycloneDX", "specVersion": 7}')
