"""The reference is what the code says."""

from __future__ import annotations

import re

import pytest
from doc_pages import DOCS

from docs.make_reference import FOLDER, MORE, definitions, documented, pages
from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.settings.rules import RULES

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_the_reference_says_what_the_code_says(name: str) -> None:
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == PAGES[name], f"docs/reference/{name} is not up to date: make docs"


def test_there_is_no_page_of_the_reference_that_nothing_writes() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)


def test_every_setting_is_in_the_reference_with_what_it_is_for() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| (\S.*) \|$", PAGES["settings.md"], re.MULTILINE)
    assert {name for name, _ in rows} == set(CodeAgent.class_own_traits(config=True))
    assert set(MORE) <= {name for name, _ in rows}


def test_everything_that_can_be_ruled_is_in_the_reference() -> None:
    assert [key for key in RULES if f"policy `{key}`" not in PAGES["settings.md"] and key != "candidates"] == []


def test_every_argument_is_explained() -> None:
    for name in ("magics.md", "command-line.md"):
        assert re.findall(r"^\|.*\|\s*\|$", PAGES[name], re.MULTILINE) == []


def test_sections_of_a_docstring_become_lists() -> None:
    def example(size: int = 1) -> None:
        """Do it.

        Parameters
        ----------
        size
            How large, in
            metres.
        """

    assert documented(example) == [
        "```text",
        "example(size: int = 1) -> None",
        "```",
        "",
        "Do it.",
        "",
        "**Parameters**",
        "",
        "- `size`: How large, in metres.",
    ]
    assert list(definitions("a\n    One.\nb\n    Two.")) == ["- `a`: One.", "- `b`: Two."]
    assert (DOCS / "index.md").read_text(encoding="utf-8").count("(reference/") == len(PAGES)
