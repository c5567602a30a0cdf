"""Rows of a result, fetched until they are too many or too large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 1_000_000
MAX_BYTES = 512 << 20
"""Size of the values of all rows."""
AT_ONCE_BYTES = 8 << 20
MAX_ROWS_AT_ONCE = 5000
STREAMED = ("SELECT", "WITH", "VALUES", "TABLE")
"""First words of statements for which a server-side cursor can be opened."""

ROWS_SCANNED = "jupyter_codeagent rows scanned"
"""Key of a frame's `attrs`: how many rows the database has read for it, where it tells."""

Rows = tuple[Sequence[str], Sequence[tuple[Any, ...]]]
Run = Callable[[str, bool], Rows]
"""Function of (statement, whether it runs without approval) that returns columns and rows."""


def only_reads(sql: str) -> None:
    """Raise PermissionError unless the first word is one that reads: no read-only mode refuses settings.

    Raises
    ------
    PermissionError
    """
    first = first_word(sql)
    if first not in (*STREAMED, "EXPLAIN", "SHOW", "DESCRIBE"):
        raise PermissionError(f"only queries are allowed here, not {first[:20] or 'an empty statement'}")


def first_word(sql: str) -> str:
    return sql.lstrip(" \t\r\n(").partition(" ")[0].split("\n")[0].rstrip(";(*").upper()


def with_rows_scanned(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Note on the frame itself how many rows the database has read for it; 0 if it did not tell."""
    if rows:
        frame.attrs[ROWS_SCANNED] = rows
    return frame


def fetched(cursor: Any) -> Rows:
    """Fetch columns and rows; both are empty for a statement without rows."""
    if cursor.description is None:
        return (), ()
    return [column[0] for column in cursor.description], portions(cursor)


def portions(cursor: Any) -> list[tuple[Any, ...]]:
    """Fetch rows in portions, up to one more than is allowed, which means that there are more.

    Raises
    ------
    ValueError
        The values together are too large for the kernel's memory.
    """
    rows: list[tuple[Any, ...]] = []
    size_bytes = 0
    at_once = 1
    while len(rows) <= MAX_ROWS and (portion := cursor.fetchmany(at_once)):
        rows += portion
        portion_bytes = sum(value_bytes(value) for row in portion for value in row)
        size_bytes += portion_bytes
        check_size(size_bytes=size_bytes)
        fitting = AT_ONCE_BYTES * len(portion) // max(portion_bytes, 1)
        at_once = max(1, min(fitting, 2 * at_once, MAX_ROWS_AT_ONCE))
    return rows


def check_size(*, rows: int = 0, size_bytes: int = 0) -> None:
    """Check a result against the limits.

    Raises
    ------
    ValueError
        It has too many rows, or its values together are too large for the kernel's memory.
    """
    if rows > MAX_ROWS:
        raise ValueError(f"more than {MAX_ROWS:,} rows: aggregate or filter in the query")
    if size_bytes > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES >> 20} MiB: aggregate, filter or choose columns in the query")


def value_bytes(value: object) -> int:
    """Return about how large a value is: texts, and what lists, structs and arrays have in them."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, memoryview):
        return value.nbytes
    if type(value).__module__ == "numpy":
        array: Any = value
        return sum(map(value_bytes, array.ravel())) if array.dtype.hasobject else int(array.nbytes)
    if isinstance(value, dict):
        return sum(map(value_bytes, (*value, *value.values())))
    return sum(map(value_bytes, value)) if isinstance(value, list | tuple | set) else 8
