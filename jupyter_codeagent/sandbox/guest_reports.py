"""Reports of the sandbox about its variables, checked and capped: they are text from hostile code."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.sandbox.operation_text import operation_text
from jupyter_codeagent.types.operations import (
    FactKind,
    Operation,
    OperationExamples,
    OperationFact,
    OperationKind,
)
from jupyter_codeagent.types.sandbox import ChangeKind, CopyChange, NamespaceEntry, ReturnForm

MAX_VARIABLES = 50
MAX_COLUMNS = 200
MAX_DIMENSIONS = 8
MAX_LENGTH = 1 << 63
MAX_CHARS = 100
MAX_PARTS = 12
MAX_OPERATIONS = 60
MAX_DETAIL_CHARS = 120
MAX_EXAMPLE_ROWS = 5
MAX_EXAMPLE_COLUMNS = 6


@dataclass(frozen=True, kw_only=True)
class AfterCellReport:
    """The answer to `guest.calls.after_cell`."""

    entries: tuple[NamespaceEntry, ...] = ()
    changes: tuple[CopyChange, ...] = ()
    operations: tuple[Operation, ...] = ()
    """With lines as IPython compiled them, see `line`."""
    not_observed: str = ""
    """Why operations are missing; empty if none is."""
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
    report = json_object(text)
    return AfterCellReport(
        entries=tuple(
            _entry(item) for item in items_of(report.get("variables"), MAX_VARIABLES) if isinstance(item, dict)
        ),
        changes=tuple(
            _change(item)
            for item in items_of(report.get("changes"), MAX_VARIABLES)
            if isinstance(item, dict) and item.get("kind") in get_args(ChangeKind)
        ),
        operations=tuple(
            _operation(item)
            for item in items_of(report.get("operations"), MAX_OPERATIONS)
            if isinstance(item, dict) and item.get("kind") in get_args(OperationKind)
        ),
        not_observed=one_line(report.get("not_observed"), MAX_CHARS),
        line=_length(report.get("line")) or None,
    )


def read_load_report(text: str) -> LoadReport:
    """Read which variables could not be loaded, and which import lines failed.

    Raises
    ------
    ValueError
        If it is not what `guest.calls.load` answers.
    """
    report = json_object(text)
    return LoadReport(errors=_by_name(report.get("errors")), missing=_by_name(report.get("missing")))


def json_object(text: str) -> dict[str, Any]:
    """Read a report of the sandbox as JSON.

    Raises
    ------
    ValueError
        If it is not an object.
    """
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
    shape = items_of(item.get("shape"), MAX_DIMENSIONS)
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
        part: tuple(one_line(text, MAX_CHARS) for text in items_of(item.get(part), MAX_PARTS))
        for part in ("added", "removed", "values", "notes")
    }
    return CopyChange(
        name=one_line(item.get("name"), MAX_CHARS),
        kind=cast("ChangeKind", item["kind"]),
        earlier=item.get("earlier") is True,
        **parts,
    )


def _operation(item: dict[str, Any]) -> Operation:
    examples = item.get("examples")
    one = Operation(
        kind=cast("OperationKind", item["kind"]),
        name=one_line(item.get("name"), MAX_CHARS),
        detail=one_line(item.get("detail"), MAX_DETAIL_CHARS),
        line=_length(item.get("line")) or 1,
        rows=_pair(item.get("rows")),
        columns=_pair(item.get("columns")),
        other_rows=_length(item.get("other_rows")),
        facts=tuple(
            OperationFact(
                kind=cast("FactKind", fact["kind"]),
                count=_length(fact.get("count")) or 0,
                of=_length(fact.get("of")),
                label=one_line(fact.get("label"), MAX_CHARS),
            )
            for fact in items_of(item.get("facts"), MAX_PARTS)
            if isinstance(fact, dict) and fact.get("kind") in get_args(FactKind)
        ),
        examples=_examples(examples) if isinstance(examples, dict) else None,
        times=_length(item.get("times")) or 1,
    )
    return replace(one, text=operation_text(one))


def _examples(item: dict[str, Any]) -> OperationExamples:
    return OperationExamples(
        title=one_line(item.get("title"), MAX_CHARS),
        columns=_cells(item.get("columns")),
        rows=tuple(_cells(row) for row in items_of(item.get("rows"), MAX_EXAMPLE_ROWS)),
    )


def _cells(value: object) -> tuple[str, ...]:
    return tuple(one_line(cell, MAX_CHARS) for cell in items_of(value, MAX_EXAMPLE_COLUMNS))


def _pair(value: object) -> tuple[int, int] | None:
    sizes = [_length(size) for size in items_of(value, 2)]
    return (sizes[0], sizes[1]) if len(sizes) == 2 and sizes[0] is not None and sizes[1] is not None else None


def _length(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < MAX_LENGTH else None


def items_of(value: object, limit: int) -> list[Any]:
    """Return at most `limit` items of a list; none of anything else."""
    return value[:limit] if isinstance(value, list) else []


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts, capped but not joined to one line.

    A column's name may hold a newline, and hints need the true name.
    """
    return tuple(item[:MAX_CHARS] for item in items_of(value, MAX_COLUMNS) if isinstance(item, str))
