"""Write the software bill of materials of a wheel: CycloneDX JSON, from what the wheel itself says.

The npm packages that the panel consists of, with their versions and licences, and the Python packages that pip
installs beside it, as ranges: which versions these will be is not decided by the wheel.
"""

from __future__ import annotations

import argparse
import json
import uuid
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from email.parser import HeaderParser
from hashlib import sha256
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement

EXTRAS = ("local", "mcp", "sql")
"""What a user may ask for; the others are for tests and demonstrations."""
PANEL = "share/jupyter/labextensions/jupyter-codeagent/static/third-party-licenses.json"


def bill_of(wheel: Path) -> Bom:
    """Return the bill of a wheel; the same for the same bytes."""
    with zipfile.ZipFile(wheel) as opened:
        names = {name.partition("/")[2]: name for name in opened.namelist()}
        metadata = HeaderParser().parsestr(opened.read(names["METADATA"]).decode("utf-8"))
        bundled = json.loads(opened.read(names[f"data/{PANEL}"]))["packages"]
        built = opened.getinfo(names["METADATA"]).date_time
    digest = sha256(wheel.read_bytes()).hexdigest()
    root = Component(
        name=metadata["Name"],
        version=metadata["Version"],
        type=ComponentType.LIBRARY,
        bom_ref=metadata["Name"],
        purl=PackageURL("pypi", name=metadata["Name"], version=metadata["Version"]),
        licenses=[LicenseFactory().make_from_string(metadata["License-Expression"])],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )
    parts = [*map(npm_component, bundled), *python_components(metadata.get_all("Requires-Dist") or [])]
    bill = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_OID, digest), components=parts)
    bill.metadata.component = root
    bill.metadata.timestamp = datetime(*built, tzinfo=UTC)
    bill.register_dependency(root, parts)
    return bill


def npm_component(entry: dict[str, str]) -> Component:
    """Return a package that is in the panel's files."""
    group, _, name = entry["name"].rpartition("/")
    purl = PackageURL("npm", namespace=group or None, name=name, version=entry["versionInfo"])
    return Component(
        name=name,
        group=group or None,
        version=entry["versionInfo"],
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        scope=ComponentScope.REQUIRED,
        licenses=[LicenseFactory().make_from_string(entry["licenseId"])],
    )


def python_components(listed: list[str]) -> Iterator[Component]:
    """Return what pip installs beside the wheel, once each: without an extra, or with one that users ask for."""
    seen = set()
    for text in listed:
        needed = Requirement(text)
        wanted_by = [
            one for one in ("", *EXTRAS) if needed.marker is None or needed.marker.evaluate({"extra": one})
        ]
        if wanted_by and needed.name not in seen:
            seen.add(needed.name)
            purl = PackageURL("pypi", name=needed.name)
            yield Component(
                name=needed.name,
                type=ComponentType.LIBRARY,
                bom_ref=str(purl),
                purl=purl,
                scope=ComponentScope.REQUIRED if "" in wanted_by else ComponentScope.OPTIONAL,
                properties=[Property(name="requirement", value=text)],
            )


def main() -> None:
    """Write ``NAME-VERSION.cdx.json`` beside the wheel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    wheel: Path = parser.parse_args().wheel
    text = JsonV1Dot6(bill_of(wheel)).output_as_string(indent=2)
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if fault is not None:
        raise SystemExit(f"The bill of materials is not valid: {fault}")
    output = wheel.with_name(f"{'-'.join(wheel.name.split('-')[:2])}.cdx.json")
    output.write_text(text + "\n", encoding="utf-8")
    print(output)


if __name__ == "__main__":
    main()
