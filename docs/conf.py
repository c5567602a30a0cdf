"""The documentation as a site: `make docs`. Sphinx reads the pages as they are.

The front page is the README and, in the place of its last section, the lists of `index.md`: they are the menu, too.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from IPython.lib.lexers import IPython3Lexer
from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
README = ROOT / "README.md"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY: str = PROJECT["urls"]["Repository"]
SECTION = re.compile(r"^## (?P<title>.+)\n(?P<items>(?:- .+\n)+)", re.MULTILINE)
"""A heading of the front page with a list right below it."""
PAGE = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<page>[\w/-]+)\.md\)", re.MULTILINE)
OF_README = re.compile(r"\]\((?!https?:|#)")
LINK_UP = re.compile(r"\]\((?P<path>\.\./[^)#]+)")

project = PROJECT["name"]
extensions = ["myst_parser"]
nitpicky = True
myst_heading_anchors = 4
exclude_patterns = ["pictures/*"]
smartquotes = False
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = project
html_copy_source = False
html_show_copyright = False
html_theme_options = {"source_repository": REPOSITORY, "source_branch": "HEAD", "source_directory": "docs/"}


def adapt_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the front page together; lead to the repository from links to what is no page."""
    text = source[0]
    if page == "index":
        app.env.note_dependency(README)
        text = f"{introduction()}\n{SECTION.sub(with_menu, text[text.index('## ') :])}"
    source[0] = LINK_UP.sub(lambda link: f"]({address((DOCS / page).parent, link['path'])}", text)


def introduction() -> str:
    """Return the README without its last section, its links as from the folder of the pages."""
    text = README.read_text(encoding="utf-8").rpartition("\n## ")[0]
    return OF_README.sub("](../", text).replace("](../docs/", "](")


def address(folder: Path, path: str) -> str:
    """Return the address of a file that is no page; for one that is, its path as it was."""
    target = (folder / path).resolve()
    return path if target.is_relative_to(DOCS) else f"{REPOSITORY}/blob/HEAD/{target.relative_to(ROOT)}"


def with_menu(section: re.Match[str]) -> str:
    """Return a list of the front page, and below it the entries of the menu: its links to pages."""
    pages = "\n".join(f"{title} <{page}>" for title, page in PAGE.findall(section["items"]))
    menu = f"```{{toctree}}\n:hidden:\n:caption: {section['title']}\n{pages}\n```\n"
    return f"{section[0]}\n{menu}" if pages else section[0]


def setup(app: Sphinx) -> None:
    app.add_lexer("ipython", IPython3Lexer)
    app.connect("source-read", adapt_page)
