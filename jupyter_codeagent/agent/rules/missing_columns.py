"""Columns that a program made and of which a table shows no value: a conversion that fits none of the texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jupyter_codeagent.agent.html_tables import tables_in
from jupyter_codeagent.agent.output_text import joined
from jupyter_codeagent.agent.rules.rule import Program, from_text

MIN_ROWS = 3
MAX_CHARS = 40_000
"""Of all tables that are looked at: they come from code that nobody has read."""
_MISSING = re.compile(r"nan|none|<na>|nat|null", re.IGNORECASE)
_COERCES = re.compile(r"errors\s*=\s*['\"]coerce['\"]|strict\s*=\s*False")


@from_text
def nothing_converted(program: Program) -> str:
    """Report that ``clean["weight"] = pd.to_numeric(…, errors="coerce")`` left no number."""
    if program.result is None or _COERCES.search(program.code) is None:
        return ""
    made = set(_columns_made(program.tree))
    left = MAX_CHARS
    for output in program.result.outputs:
        if output["output_type"] not in ("display_data", "execute_result"):
            continue
        html = joined(output["data"].get("text/html", ""))
        shown, left = html[:left], max(0, left - len(html))
        for label, values in _columns_shown(shown):
            if label in made and len(values) >= MIN_ROWS and all(map(_MISSING.fullmatch, values)):
                return (
                    f"Every value shown of {label!r} is missing after its conversion. Look at how the texts are "
                    "written and take out what is no number."
                )
    return ""


def _columns_made(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(slice=ast.Constant(value=str(label)), ctx=ast.Store()):
                yield label
            case ast.Call(func=ast.Attribute(attr="assign"), keywords=words):
                yield from (word.arg for word in words if word.arg is not None)


def _columns_shown(html: str) -> Iterator[tuple[str, list[str]]]:
    """(label, values) of each table; the row of dots in the middle is no value."""
    for table in tables_in(html):
        rows = [row for row in table.rows if not all(cell == "..." for cell in row)]
        labels = table.head[0] if table.head else []
        if rows and all(len(row) == len(labels) for row in rows):
            yield from ((label, [row[at] for row in rows]) for at, label in enumerate(labels) if label)
