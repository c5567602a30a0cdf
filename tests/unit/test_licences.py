"""The licences of all that is shipped, and of all that pip installs with it, have been looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_path
from packaging.requirements import Requirement

ALLOWED = (
    "0BSD",
    "Apache",
    "BSD",
    "CC0",
    "HPND",
    "ISC",
    "MIT",
    "MPL",
    "PSF",
    "Python Software Foundation",
    "Unlicense",
)
"""They allow use in any program; MPL asks for changes of its own files only, and none of these is shipped."""
DEMANDING = re.compile(r"\bA?L?GPL|General Public|proprietary|non-?commercial", re.IGNORECASE)
EXTRAS = ("local", "mcp", "sql")


def installed_with(name: str, extras: tuple[str, ...], seen: set[str]) -> Iterator[str]:
    """Names of all distributions that this one needs."""
    for text in distribution(name).requires or ():
        needed = Requirement(text)
        wanted = needed.marker is None or any(needed.marker.evaluate({"extra": one}) for one in ("", *extras))
        if wanted and needed.name.lower() not in seen:
            seen.add(needed.name.lower())
            yield needed.name
            yield from installed_with(needed.name, tuple(needed.extras), seen)


def licence_of(name: str) -> str:
    """The licence by the expression, by the classifiers, or by the first line of the field of old."""
    told = distribution(name).metadata
    expression = told.get_all("License-Expression") or []
    classified = [line.rpartition("::")[2] for line in told.get_all("Classifier") or [] if "License ::" in line]
    old = [text.strip().partition("\n")[0] for text in told.get_all("License") or []]
    return ", ".join(expression or classified or old)


def test_every_package_that_pip_installs_with_this_one_has_a_licence_that_was_looked_at() -> None:
    licences = {name: licence_of(name) for name in installed_with("jupyter-codeagent", EXTRAS, set())}
    assert len(licences) > 60, "the requirements of requirements count too"
    to_look_at = {
        name: licence
        for name, licence in licences.items()
        if DEMANDING.search(licence) or not any(allowed in licence for allowed in ALLOWED)
    }
    assert to_look_at == {}


@pytest.fixture(scope="module")
def bundled() -> dict[str, dict[str, str]]:
    places = [Path(place) / "labextensions" / "jupyter-codeagent" / "static" for place in jupyter_path()]
    report = next(place for place in places if place.exists()) / "third-party-licenses.json"
    return {one["name"]: one for one in json.loads(report.read_text(encoding="utf-8"))["packages"]}


def test_the_panel_lists_all_that_its_library_of_charts_consists_of(bundled: dict[str, dict[str, str]]) -> None:
    assert {"vega", "vega-lite", "vega-embed", "vega-util", "d3-scale", "topojson-client", "semver"} <= set(bundled)
    assert not {"yargs", "commander"} & set(bundled), "programs of the command line are not in it"


def test_the_text_of_every_bundled_licence_is_shipped(bundled: dict[str, dict[str, str]]) -> None:
    assert [name for name, one in bundled.items() if not one["extractedText"].strip()] == []
    assert [name for name, one in bundled.items() if not any(known in one["licenseId"] for known in ALLOWED)] == []
