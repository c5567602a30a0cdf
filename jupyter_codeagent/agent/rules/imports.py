"""Imports that the program forgot."""

from __future__ import annotations

from jupyter_codeagent.agent.known_imports import with_imports
from jupyter_codeagent.agent.rules.rule import Fix, Program


def add_imports(program: Program) -> Fix | None:
    """Import known aliases that are used but neither bound by the code nor defined."""
    code = program.code
    imported = with_imports(code, {*program.defined, *program.copied})
    added = imported[: len(imported) - len(code)].strip().split("\n")
    return Fix(code=imported, notes=("added: " + "; ".join(added),)) if imported != code else None
