"""Cells of the user that failed, for `%agent fix`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_codeagent.frontend.cell_origin import CELL_ID as NOTEBOOK_ID
from jupyter_codeagent.types.errors import UsageError

KEPT = 100
"""Number of the newest failed cells that are kept; each holds the text of a cell."""
ID_CHARS = 8
MAX_ID_CHARS = 4096


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A cell as it was when it failed."""

    source: str
    error: str
    """``NameError: name 'x' is not defined``"""
    count: int | None = None
    """The number that the notebook displays beside the cell, as in ``[3]``."""


class Failures:
    """Failures by cell, the last one at the end; where cells have no id, the same text is the same cell."""

    def __init__(self) -> None:
        self._by_cell: dict[str, Failure] = {}
        self._last: Failure | None = None

    def remember(self, cell: str | None, failure: Failure) -> None:
        self._last = failure
        key = _key(cell, failure.source)
        self._by_cell.pop(key, None)
        self._by_cell[key] = failure
        for oldest in list(self._by_cell)[:-KEPT]:
            del self._by_cell[oldest]

    def forget(self, cell: str | None, source: str) -> None:
        """Forget a cell that has run without an error since.

        The last failure is kept: `%agent fix` may be asked a second time.
        """
        self._by_cell.pop(_key(cell, source), None)

    def listed(self) -> Iterator[tuple[str, str]]:
        """Yield cells as a person names them, with their errors; the newest first.

        A cell is named by the beginning of its id in the notebook, or by its number if it has none that tells cells
        apart: VS Code's ids all begin alike.
        """
        for key, failure in reversed(self._by_cell.items()):
            if NOTEBOOK_ID.fullmatch(key):
                yield key[:ID_CHARS], failure.error
            elif failure.count is not None:
                yield str(failure.count), failure.error

    def find(self, cell: str) -> Failure:
        """Return the failure of a cell; the last failure when `cell` is empty.

        The cell is found by its id or by the first 8 or more characters of it (the newest of several), else by its
        number.

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
            if NOTEBOOK_ID.fullmatch(known) and (
                known == cell or (len(cell) >= ID_CHARS and known.startswith(cell))
            ):
                return self._by_cell[known]
        for failure in reversed(self._by_cell.values()):
            if failure.count is not None and str(failure.count) == cell:
                return failure
        raise UsageError(
            f"%agent fix: the cell {cell} has not failed in this kernel, or has run without an error since. "
            "Run it, then ask again."
        )


def _key(cell: str | None, source: str) -> str:
    """Return the key of a cell; VS Code's ids are addresses, which tell cells apart but are written by nobody."""
    return cell if cell is not None and len(cell) <= MAX_ID_CHARS else f"text {source}"
