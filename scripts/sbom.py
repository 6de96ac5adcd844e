"""Software bill of materials of a lock file: `python scripts/sbom.py [requirements.lock] > sbom.cdx.json`.

CycloneDX 1.6 as JSON: each locked package with its version, package URL, the SHA-256 of every file that may be
installed for it, its licence where it is installed here, and which package requires which (the "via" comments of the
lock).
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense, LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from pydantic import BaseModel

ROOT = Path(__file__).parents[1]
_PINNED_LINE = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)")
_HASH_OPTION = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_OWN_PACKAGE = "geotts"


class Locked(BaseModel):
    """One package of a lock file. `via` names what requires it."""

    name: str
    version: str
    sha256: list[str] = []
    via: list[str] = []


def locked_packages(text: str) -> Iterator[Locked]:
    """The packages of a lock that `uv pip compile --generate-hashes` wrote."""
    current: Locked | None = None
    for line in text.splitlines():
        if pinned := _PINNED_LINE.match(line):
            if current is not None:
                yield current
            current = Locked(name=pinned[1], version=pinned[2])
        elif current is not None:
            current.sha256 += _HASH_OPTION.findall(line)
            comment = line.strip().removeprefix("#").strip().removeprefix("via").strip()
            if line.strip().startswith("#") and comment:
                current.via.append(comment.partition(" ")[0])
    if current is not None:
        yield current


def bill_of(lock: Path) -> Bom:
    """The bill of the project with what a lock holds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    packages = list(locked_packages(lock.read_text()))
    own = Component(name=_OWN_PACKAGE, version=project["version"], type=ComponentType.APPLICATION, bom_ref=_OWN_PACKAGE)
    components = {package.name: _component(package) for package in packages}
    bom = Bom(components=components.values())
    bom.metadata.component = own
    for package in packages:
        for parent in package.via:
            bom.register_dependency(components.get(parent, own), [components[package.name]])
    return bom


def _component(package: Locked) -> Component:
    return Component(
        name=package.name,
        version=package.version,
        type=ComponentType.LIBRARY,
        bom_ref=f"{package.name}=={package.version}",
        purl=PackageURL("pypi", name=package.name, version=package.version),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in package.sha256],
        licenses=_licences(package.name),
    )


def _licences(name: str) -> list[LicenseExpression | DisjunctiveLicense]:
    """What the installed package says of its licence; nothing when it is not installed or says nothing short."""
    try:
        package = metadata(name)
    except PackageNotFoundError:
        return []
    if "License-Expression" in package and (expression := package["License-Expression"]):
        return [LicenseExpression(expression)]
    named = package["License"].strip() if "License" in package else ""
    return [DisjunctiveLicense(name=named)] if named and "\n" not in named and len(named) < 100 else []


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "requirements.lock"
    print(JsonV1Dot6(bill_of(path)).output_as_string(indent=2))
