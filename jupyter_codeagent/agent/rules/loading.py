"""Data that is loaded already: programs read or retype a variable that lies in the sandbox as a copy."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from jupyter_codeagent.agent.rules.rule import Fix, Program
from jupyter_codeagent.agent.source import Edit, apply_edits, called_name, span

_READERS = re.compile(r"read_|scan_")
_LOADER = re.compile(r"(?:load|fetch|get|read)_(?P<table>\w*)")


def drop_reloads(program: Program) -> Fix | None:
    """Drop the top-level statements that read or retype a variable that exists already."""
    tree, code = program.tree, program.code
    edits, notes = [], []
    for index, statement in enumerate(tree.body):
        name = _reloaded(statement, program.copied)
        if not name or not _alone_on_its_lines(tree, index):
            continue
        start, end = span(code, statement)
        only = len(tree.body) == 1
        line_end = code.find("\n", end)
        edits.append(
            Edit(start=start, end=end if only or line_end < 0 else line_end + 1, text=name if only else "")
        )
        notes.append(f"line {statement.lineno} dropped: {name} is loaded already")
    return Fix(code=apply_edits(code, edits).strip("\n"), notes=tuple(notes)) if edits else None


def _reloaded(statement: ast.stmt, variables: Collection[str]) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if name in variables:
            return name if _loads(call) else ""
    return ""


def _loads(call: ast.Call) -> bool:
    """Check for a reader of pandas or polars, a frame typed as literals, or a loader with constants only."""
    owner, name = called_name(call)
    if owner in ("pd", "pl", "pandas", "polars"):
        return bool(_READERS.match(name)) or (name == "DataFrame" and bool(call.args) and _constant(call))
    return bool(_LOADER.match(name)) and _constant(call)


def _constant(call: ast.Call) -> bool:
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    return not any(isinstance(node, ast.Name | ast.Call | ast.Starred) for part in parts for node in ast.walk(part))


def _alone_on_its_lines(tree: ast.Module, index: int) -> bool:
    here = tree.body[index]
    before = tree.body[index - 1] if index else None
    after = tree.body[index + 1] if index + 1 < len(tree.body) else None
    shares_first = before is not None and before.end_lineno == here.lineno
    return not shares_first and (after is None or after.lineno != here.end_lineno)
