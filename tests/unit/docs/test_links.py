"""Links between pages lead somewhere; links to elsewhere are listed here, and never fetched by a test."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from urllib.parse import urlsplit

import pytest
from doc_pages import ROOT, DocPage, doc_pages, read_page

ELSEWHERE = {
    "https://agent-sandbox.sigs.k8s.io",
    "https://agentclientprotocol.com",
    "https://github.com/google/gvisor/issues/13438",
    "https://github.com/google/gvisor/issues/13439",
    "https://jupyter-ai.readthedocs.io",
    "https://modelcontextprotocol.io",
}
"""All that the pages link to outside of this repository."""
NAMED_TEST = re.compile(r"^test_\w+\*?\.py$")
PLACE = re.compile(
    r"^(?:tests|jupyter_codeagent|evals|benchmarks|docs|labextension|example_notebooks|recipe)/[\w./-]+$"
)
MADE_BY_THE_READER = {"jupyter_codeagent/variables/describers/distributions.py"}


@pytest.mark.parametrize("page", doc_pages(), ids=lambda page: str(page.name))
def test_every_link_between_pages_leads_to_a_file_and_a_heading_that_are_there(page: DocPage) -> None:
    assert [link for link in page.links if not urlsplit(link).scheme and not leads_somewhere(page, link)] == []


def test_links_to_elsewhere_are_those_that_are_listed() -> None:
    assert {link for page in doc_pages() for link in page.links if urlsplit(link).scheme} == ELSEWHERE


@pytest.mark.parametrize("page", doc_pages(), ids=lambda page: str(page.name))
def test_files_and_tests_that_a_page_names_are_there(page: DocPage) -> None:
    tests = {path.name for path in ROOT.glob("tests/**/test_*.py")}
    missing = [word for word in page.words if PLACE.match(word) and not is_there(word)]
    for word in page.words:
        named = NAMED_TEST.match(word)
        if named and not any(fnmatch(name, word) for name in tests):
            missing.append(word)
    assert missing == []


def is_there(word: str) -> bool:
    return (ROOT / word).exists() or word in MADE_BY_THE_READER


def leads_somewhere(page: DocPage, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.path.parent / path).resolve() if path else page.path
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or anchor in read_page(target).anchors


def test_a_link_to_a_heading_that_is_not_there_is_found() -> None:
    [page] = [page for page in doc_pages() if page.name == "docs/index.md"]
    assert leads_somewhere(page, "usage.md#house-rules")
    assert not leads_somewhere(page, "usage.md#house-rulez")
    assert not leads_somewhere(page, "usages.md")
