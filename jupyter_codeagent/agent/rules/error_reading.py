"""Read an error: which columns and which name it says are missing, and what of the namespace is near to them."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Sequence
from itertools import islice

from jupyter_codeagent.types.sandbox import ExecutionError, NamespaceEntry

SIMILARITY = 0.6
MAX_LABELS = 20
"""That one error names and that are looked at."""
MAX_COMPARED_CHARS = 100
MAX_COMPARED, MAX_FRAMES = 1000, 8
"""Names that a misspelt one is compared with, which takes up to 0.1 ms each; and frames whose columns are."""
_TEXT_DTYPES = frozenset({"str", "object", "string", "category"})
_LABEL = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_NO_ATTRIBUTE = re.compile(r"'(?:DataFrame|Series|DataFrameGroupBy)' object has no attribute '([^']+)'")
_NO_NAME = re.compile(r"name '([^']+)' is not defined")
_COLUMNS_MISSING = re.compile(r"not in index|not found in axis|are in the|do not exist")


def missing_labels(error: ExecutionError) -> tuple[str, ...]:
    """Return the column labels that the code asked for and no frame had; none for every other error."""
    return _missing_labels(error)[:MAX_LABELS]


def missing_name(error: ExecutionError) -> str:
    """Return the name that the code uses and nothing has bound; empty for every other error."""
    match = _NO_NAME.search(error.evalue) if error.ename in ("NameError", "UnboundLocalError") else None
    return match.group(1) if match is not None else ""


def same_columns(labels: Iterable[str], namespace: Sequence[NamespaceEntry]) -> dict[str, str]:
    """Label -> the one column that differs from it in case, blanks and underscores only."""
    columns: dict[str, set[str]] = {}
    for entry in namespace:
        for column in entry.columns:
            columns.setdefault(plain_label(column), set()).add(column)
    found = {label: columns.get(plain_label(label), set()) for label in labels}
    return {label: min(same) for label, same in found.items() if len(same) == 1 and label not in same}


def nearest(name: str, known: Iterable[str], count: int) -> list[str]:
    """Return the names that it may be meant for, the nearest first."""
    if len(name) > MAX_COMPARED_CHARS:
        return []
    return difflib.get_close_matches(name, list(islice(known, MAX_COMPARED)), count, SIMILARITY)


def frames(namespace: Iterable[NamespaceEntry]) -> list[NamespaceEntry]:
    return [entry for entry in namespace if entry.columns]


def text_columns(entry: NamespaceEntry) -> list[str]:
    """Return the labels of the columns that hold texts."""
    columns = zip(entry.columns, entry.dtypes, strict=False)
    return [column for column, dtype in columns if dtype in _TEXT_DTYPES]


def _missing_labels(error: ExecutionError) -> tuple[str, ...]:
    if error.ename == "KeyError":
        return _missing_keys(error.evalue.strip())
    if match := _NO_ATTRIBUTE.search(error.evalue):
        return (match.group(1),)
    if error.ename in ("UndefinedVariableError", "ColumnNotFoundError"):
        match = _NO_NAME.search(error.evalue) or re.search(r'"([^"]+)"', error.evalue)
        return (match.group(1),) if match else (error.evalue.split("\n")[0].strip(),)
    if error.ename == "ValueError" and (match := re.search(r"columns? ", error.evalue)):
        return _listed(error.evalue[match.end() :])
    return ()


def _missing_keys(text: str) -> tuple[str, ...]:
    """`str()` of a `KeyError` is the `repr()` of the key, or of a sentence of pandas with a list of keys in it."""
    try:
        key = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        key = text
    if (grouped := re.fullmatch(r"Columns? not found: (.+)", str(key))) is not None:  # of a GroupBy
        return tuple(part.strip("'\" ") for part in grouped.group(1).split(", "))
    if "]" in (before := _COLUMNS_MISSING.split(str(key), 1))[0] and len(before) > 1:
        return _listed(str(key).replace("Index([", "", 1))
    keys = key if isinstance(key, list | tuple) else [key]
    return tuple(str(part) for part in keys if str(part))


def _listed(text: str) -> tuple[str, ...]:
    """Return the texts in the first brackets."""
    inside = text.partition("[")[2].partition("]")[0]
    return tuple(first or second for first, second in _LABEL.findall(inside))


def plain_label(label: str) -> str:
    return re.sub(r"[\s_\-.]+", "", label).lower()
