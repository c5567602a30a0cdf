"""A certain correction after an error that comes from text where dates were meant.

If the column holds other text too, the conversion fails and nothing is corrected.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from jupyter_codeagent.agent.rules.rule import Fix, Program, with_line_before
from jupyter_codeagent.agent.source import column_of, statement_at
from jupyter_codeagent.types.sandbox import NamespaceEntry

_NO_DATES = re.compile(r"Can only use \.dt accessor with datetimelike values")
_TEXT_DTYPES = re.compile(r"^(?:object|str|string)", re.IGNORECASE)


def convert_dates(program: Program) -> Fix | None:
    """Convert a column of text to dates in the line before ``df["Date"].dt``."""
    tree, error, namespace = program.tree, program.error, program.namespace
    if error.line is None or not _NO_DATES.search(error.evalue):
        return None
    statement = statement_at(tree, error.line)
    found = {
        (frame, label)
        for node in (ast.walk(statement) if statement is not None else ())
        if isinstance(node, ast.Attribute) and node.attr == "dt" and (column := column_of(node.value)) is not None
        for frame, label in [column]
        if _is_text(frame, label, namespace)
    }
    if statement is None or len(found) != 1:
        return None
    [(frame, label)] = found
    line = f"{frame}[{label!r}] = pd.to_datetime({frame}[{label!r}])"
    return with_line_before(program, statement, line, f"converted {label!r} to dates")


def _is_text(frame: str, label: str, namespace: Sequence[NamespaceEntry]) -> bool:
    return any(
        entry.name == frame and _TEXT_DTYPES.match(dtype) is not None
        for entry in namespace
        for column, dtype in zip(entry.columns, entry.dtypes, strict=False)
        if column == label
    )
