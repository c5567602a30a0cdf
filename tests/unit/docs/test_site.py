"""The site is built without a warning, and shows itself without a network."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from doc_pages import DOCS, ROOT

LOADED = {"src", "srcset", "poster", "data", "action"}
"""Attributes whose address a browser gets by itself; of `link` elements `href`, too."""
IN_STYLE = re.compile(r"url\(\s*['\"]?(?P<url>[^'\")]+)|@import\s+['\"](?P<sheet>[^'\"]+)")


class LoadedByBrowser(HTMLParser):
    """Collects what a page loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kept = LOADED | ({"href"} if tag == "link" else set())
        self.addresses += [value for name, value in attrs if name in kept and value]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    options = f"-m sphinx -qW --keep-going -d {folder}-kept docs {folder}"
    done = subprocess.run(
        [sys.executable, *options.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_every_page_becomes_one_of_the_site_and_is_in_its_menu(site: Path) -> None:
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    front = (site / "index.html").read_text(encoding="utf-8")
    menu = {
        Path(href) for href in re.findall(r'class="toctree-l1"><a class="reference internal" href="([^"]+)"', front)
    }
    assert {path for path in pages if not (site / path).is_file()} == set()
    assert menu == pages - {Path("index.html")}


def test_the_front_page_says_what_it_is_why_it_is_safe_and_how_often_it_is_right_before_the_lists(
    site: Path,
) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    titles = re.findall(r"<h[12]>([^<]+)<", text)
    assert titles[:4] == ["jupyter-codeagent", "Why it is safe", "How often it is right", "Get started"]
    assert titles[4:] == ["Tutorial", "How to", "Reference", "Explanation"]
    assert "recording.webp" in text


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    found = {address for path in site.rglob("*") for address in loaded(path)}
    assert found
    assert {address for address in found if urlsplit(address).netloc} == set()


def test_what_a_page_loads_is_there(site: Path) -> None:
    for path in site.rglob("*.html"):
        for address in loaded(path):
            name = urlsplit(address).path
            assert not name or (path.parent / name).exists(), f"{path.name}: {address}"


def loaded(path: Path) -> Iterator[str]:
    if path.suffix == ".html":
        links = LoadedByBrowser(path.read_text(encoding="utf-8")).addresses
        yield from (address for address in links if not address.startswith("data:"))
    elif path.suffix == ".css":
        for found in IN_STYLE.finditer(path.read_text(encoding="utf-8")):
            address = found["url"] or found["sheet"]
            if not address.startswith("data:"):
                yield address


def test_links_to_files_that_are_no_pages_lead_to_the_repository(site: Path) -> None:
    text = (site / "evals.html").read_text(encoding="utf-8")
    links = re.findall(r'href="(https://[^"]+/blob/HEAD/evals/[^"]+)"', text)
    assert links
    for link in links:
        assert (ROOT / link.partition("/blob/HEAD/")[2]).exists()
