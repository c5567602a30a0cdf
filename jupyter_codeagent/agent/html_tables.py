"""Read the cells of HTML tables, as dataframes are displayed.

The HTML comes from the sandbox: nothing of it is trusted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass(frozen=True, kw_only=True)
class HtmlTable:
    """The text of a table, row by row."""

    head: list[list[str]] = field(default_factory=list)
    """Header rows: labels, and what some libraries write below them."""
    rows: list[list[str]] = field(default_factory=list)


def tables_in(html: str) -> list[HtmlTable]:
    """Return the tables of `html` in order; a table within another is read as rows of the outer one.

    Empty where brackets are left open: the parser takes quadratic time over them.
    """
    if html.count("<") != html.count(">"):
        return []
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.tables


def table_cells(html: str) -> list[list[str]]:
    """Return the cells of all table bodies, row by row."""
    return [row for table in tables_in(html) for row in table.rows if row]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[HtmlTable] = []
        self._row: list[str] | None = None
        self._depth = 0
        self._in_head = self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._depth += 1
            if self._depth == 1:
                self.tables.append(HtmlTable())
                self._in_head = False
        elif tag in ("thead", "tbody"):
            self._in_head = tag == "thead"
        elif tag == "tr" and self.tables:
            self._row = []
            (self.tables[-1].head if self._in_head else self.tables[-1].rows).append(self._row)
        elif tag in ("td", "th") and self._row is not None:
            self._row.append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._depth = max(self._depth - 1, 0)
        elif tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell and self._row:
            self._row[-1] += data.strip()
