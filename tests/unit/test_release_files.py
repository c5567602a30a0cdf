"""What a release says of itself is said once, or the same everywhere: version, licence, requirements, address."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION: str = json.loads((ROOT / "labextension" / "package.json").read_text(encoding="utf-8"))["version"]
MADE = frozenset({"build", "dist", "node_modules", "__pycache__"})
BUILT = (ROOT / "jupyter_codeagent" / "labextension", ROOT / "labextension" / "lib")
MAIL = re.compile(r"[\w.+-]+@[\w-]+\.\w+")


def read_yaml(name: str) -> dict[str, Any]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def source_files() -> Iterator[Path]:
    """All files of the checkout but what tools have made; not by git, which a checkout for a build may lack."""
    for directory, folders, names in os.walk(ROOT):
        here = Path(directory)
        folders[:] = [
            name
            for name in folders
            if (name == ".ci" or not name.startswith(".")) and name not in MADE and here / name not in BUILT
        ]
        yield from (here / name for name in names if (here / name).is_file())


def test_the_address_of_the_project_stands_in_one_place() -> None:
    address = urlsplit(PROJECT["urls"]["Repository"])
    place = f"{address.netloc}{address.path}".removesuffix(".git")
    holding = [str(file.relative_to(ROOT)) for file in source_files() if place.encode() in file.read_bytes()]
    assert holding == ["pyproject.toml"]
    assert (ROOT / "pyproject.toml").read_text(encoding="utf-8").count(place) == 1


def test_on_a_package_index_every_link_and_picture_of_the_readme_leads_to_the_repository() -> None:
    description = str(metadata("jupyter-codeagent").json["description"])
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", description)
    pictures = [address for mark, address in links if mark]
    assert len(pictures) == 1
    assert len(links) > 4
    repository = PROJECT["urls"]["Repository"]
    for address in (address for _, address in links):
        kind = "raw" if address in pictures else "blob"
        place = address.removeprefix(f"{repository}/{kind}/HEAD/")
        assert (ROOT / place).is_file(), address


def test_the_site_and_its_sources_are_in_no_package() -> None:
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"][
        "targets"
    ]
    assert not [path for path in targets["sdist"]["include"] if path.startswith(("/docs", "/build/"))]
    assert targets["wheel"]["packages"] == ["jupyter_codeagent"]


def test_no_address_of_a_mailbox_is_made_up() -> None:
    texts = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "pyproject.toml")]
    assert [(file.name, found) for file in texts for found in MAIL.findall(file.read_text(encoding="utf-8"))] == []


def test_the_version_is_the_same_everywhere() -> None:
    lock = json.loads((ROOT / "labextension" / "package-lock.json").read_text(encoding="utf-8"))
    assert lock["version"] == lock["packages"][""]["version"] == VERSION
    assert read_yaml("CITATION.cff")["version"] == VERSION
    assert read_yaml("recipe/recipe.yaml")["context"]["version"] == VERSION
    newest = re.findall(r"^## (\S+) - ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert newest == VERSION


def test_the_licence_is_the_same_everywhere() -> None:
    assert read_yaml("CITATION.cff")["license"] == PROJECT["license"]
    assert read_yaml("recipe/recipe.yaml")["about"]["license"] == PROJECT["license"]
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("BSD 3-Clause License")


def test_conda_needs_what_pip_needs() -> None:
    def named(texts: list[str]) -> dict[str, str]:
        needed = [Requirement(text) for text in texts]
        return {one.name.replace("_", "-"): str(one.specifier) for one in needed}

    recipe = read_yaml("recipe/recipe.yaml")["requirements"]["run"]
    python = f"python {PROJECT['requires-python']}"
    assert named(recipe) == named([python, *PROJECT["dependencies"]])


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md"])
def test_files_that_newcomers_are_sent_to_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    new = {"jupyter_codeagent/variables/describers/distributions.py"}  # what the example makes
    named = set(re.findall(r"`((?:jupyter_codeagent|tests|labextension|recipe)/[\w./-]+\.\w+)`", text)) - new
    linked = set(re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text))
    assert [path for path in sorted(named | linked) if not (ROOT / path).exists()] == []
