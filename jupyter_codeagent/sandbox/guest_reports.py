"""Reports of the sandbox about its variables, checked and capped: they are text from hostile code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast, get_args

from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.types.sandbox import ChangeKind, CopyChange, NamespaceEntry, ReturnForm

MAX_VARIABLES = 50
MAX_COLUMNS = 200
MAX_DIMENSIONS = 8
MAX_LENGTH = 1 << 63
MAX_CHARS = 100
MAX_PARTS = 12


@dataclass(frozen=True, kw_only=True)
class AfterCellReport:
    """The answer to `guest.calls.after_cell`."""

    entries: tuple[NamespaceEntry, ...] = ()
    changes: tuple[CopyChange, ...] = ()
    line: int | None = None
    """Line of the error in the code as IPython compiled it: without the blank lines at its beginning."""


@dataclass(frozen=True, kw_only=True)
class LoadReport:
    """The answer to `guest.calls.load`: why variables (by name) and import lines failed."""

    errors: dict[str, str]
    missing: dict[str, str]


def read_after_cell_report(text: str) -> AfterCellReport:
    """Read the answer to `guest.calls.after_cell`; entries that are malformed are left out.

    Raises
    ------
    ValueError
        If it is not a JSON object at all.
    """
    report = _object(text)
    line = report.get("line")
    return AfterCellReport(
        entries=tuple(
            _entry(item) for item in _items(report.get("variables"), MAX_VARIABLES) if isinstance(item, dict)
        ),
        changes=tuple(
            _change(item)
            for item in _items(report.get("changes"), MAX_VARIABLES)
            if isinstance(item, dict) and item.get("kind") in get_args(ChangeKind)
        ),
        line=line if type(line) is int and line > 0 else None,
    )


def read_load_report(text: str) -> LoadReport:
    """Read which variables could not be loaded, and which import lines failed.

    Raises
    ------
    ValueError
        If it is not what `guest.calls.load` answers.
    """
    report = _object(text)
    return LoadReport(errors=_by_name(report.get("errors")), missing=_by_name(report.get("missing")))


def _object(text: str) -> dict[str, Any]:
    try:
        report = json.loads(text)
    except RecursionError as problem:
        raise ValueError("too deeply nested") from problem
    if not isinstance(report, dict):
        raise ValueError("not an object")
    return report


def _by_name(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(reason, str) for reason in value.values()):
        raise ValueError("no reasons by name")
    return value


def _entry(item: dict[str, Any]) -> NamespaceEntry:
    shape = _items(item.get("shape"), MAX_DIMENSIONS)
    return NamespaceEntry(
        name=one_line(item.get("name"), MAX_CHARS),
        type_name=one_line(item.get("type_name"), MAX_CHARS),
        shape=tuple(length for length in shape if type(length) is int and 0 <= length < MAX_LENGTH),
        columns=_texts(item.get("columns")),
        dtypes=_texts(item.get("dtypes")),
        returns_as=cast("ReturnForm", form if (form := item.get("returns_as")) in get_args(ReturnForm) else ""),
    )


def _change(item: dict[str, Any]) -> CopyChange:
    parts = {
        part: tuple(one_line(text, MAX_CHARS) for text in _items(item.get(part), MAX_PARTS))
        for part in ("added", "removed", "values", "notes")
    }
    return CopyChange(
        name=one_line(item.get("name"), MAX_CHARS),
        kind=cast("ChangeKind", item["kind"]),
        earlier=item.get("earlier") is True,
        **parts,
    )


def _items(value: object, limit: int) -> list[Any]:
    return value[:limit] if isinstance(value, list) else []


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts, capped but not joined to one line.

    A column's name may hold a newline, and hints need the true name.
    """
    return tuple(item[:MAX_CHARS] for item in _items(value, MAX_COLUMNS) if isinstance(item, str))
