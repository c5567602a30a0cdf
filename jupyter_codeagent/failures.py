"""The user's own cells that ended with an error, for `%agent fix`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_codeagent.errors import UsageError

KEPT = 100
"""The newest; each is the text of one cell."""
SHOWN_ID_CHARS = 8
CELL_ID = re.compile(r"[!-~]{1,4096}")
"""One word without line ends: an id comes from the notebook, and completion writes it into a cell. VS Code's are
addresses."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A cell as it was when it failed."""

    source: str
    error: str
    """``NameError: name 'x' is not defined``"""


class Failures:
    """By cell id, the last one at the end. A front end without cell ids has the last one only."""

    def __init__(self) -> None:
        self._by_cell: dict[str, Failure] = {}
        self._last: Failure | None = None

    def remember(self, cell: str | None, failure: Failure) -> None:
        self._last = failure
        if cell is not None and CELL_ID.fullmatch(cell):
            self._by_cell.pop(cell, None)
            self._by_cell[cell] = failure
            for oldest in list(self._by_cell)[:-KEPT]:
                del self._by_cell[oldest]

    def forget(self, cell: str | None) -> None:
        """It has run without an error since; the last failure stays: `%agent fix` may be asked a second time."""
        if cell is not None:
            self._by_cell.pop(cell, None)

    def listed(self) -> Iterator[tuple[str, str]]:
        """Cell ids as far as a person writes them, and errors; the newest first."""
        for cell, failure in reversed(self._by_cell.items()):
            yield cell[:SHOWN_ID_CHARS], failure.error

    def find(self, cell: str) -> Failure:
        """By the cell's id or its first 8 characters or more, the newest of several; the last failure when empty.

        Raises
        ------
        UsageError
            No such cell has failed, or it ran without an error since.
        """
        if not cell:
            if self._last is None:
                raise UsageError("%agent fix: no cell has failed since %load_ext.")
            return self._last
        for known in reversed(self._by_cell):
            if known == cell or (len(cell) >= SHOWN_ID_CHARS and known.startswith(cell)):
                return self._by_cell[known]
        raise UsageError(
            f"%agent fix: the cell {cell} has not failed in this kernel, or it ran without an error since. "
            "Run it, then ask again."
        )
