"""Imports that the program forgot, or that name a part of a package as a package."""

from __future__ import annotations

import ast
import re

from jupyter_codeagent.agent.known_imports import ALIASES, with_imports
from jupyter_codeagent.agent.rules.error_reading import missing_name
from jupyter_codeagent.agent.rules.rule import Fix, Program, edited
from jupyter_codeagent.agent.source import Edit, span


def add_imports(program: Program) -> Fix | None:
    """Import known aliases that are used but neither bound by the code nor defined."""
    code = program.code
    imported = with_imports(code, {*program.defined, *program.copied})
    added = imported[: len(imported) - len(code)].strip().split("\n")
    return Fix(code=imported, notes=("added: " + "; ".join(added),)) if imported != code else None


def import_missing_name(program: Program) -> Fix | None:
    """Import a known alias that the error says is not defined."""
    code, error = program.code, program.error
    line = ALIASES.get(missing_name(error))
    if line is None:
        return None
    return Fix(code=f"{line}\n{code}", notes=(f"added: {line}",))


def import_from_package(program: Program) -> Fix | None:
    """``import stats``: what is called so is a part of a package."""
    tree, code, error = program.tree, program.code, program.error
    match = re.fullmatch(r"No module named '(\w+)'", error.evalue)
    line = ALIASES.get(match.group(1), "") if match is not None else ""
    if match is None or not line.startswith("from "):
        return None
    edits = [
        Edit(start=start, end=end, text=line)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        and [(one.name, one.asname) for one in node.names] == [(match.group(1), None)]
        for start, end in [span(code, node)]
    ]
    return edited(program, edits, f"import {match.group(1)} is {line}")
