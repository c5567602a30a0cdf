"""Imports that the program forgot, or that name a part of a package as a package."""

from __future__ import annotations

from jupyter_codeagent.agent.known_imports import ALIASES, with_imports
from jupyter_codeagent.agent.rules.error_reading import missing_name
from jupyter_codeagent.agent.rules.rule import Fix, Program


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
