"""Where a program that uses a name which nothing binds is to go on: before that statement, with ``name =`` begun.

Told that ``verdict`` is not defined, a small model writes the same program again; with its program continued up to
there it computes what was missing.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence

from jupyter_codeagent.prompts.hints import SIMILARITY, missing_name
from jupyter_codeagent.prompts.imports import ALIASES
from jupyter_codeagent.prompts.source import bound_names, parse, statement_at
from jupyter_codeagent.values import ExecutionError, NamespaceEntry


def resumed(code: str, error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
    """The beginning of the next program; empty where the name is a misspelt one, a column, a function or an import.

    `error.line` is a line of `code`.
    """
    name, tree = missing_name(error), parse(code)
    if not name or tree is None or error.line is None or name in ALIASES or name in bound_names(tree):
        return ""
    known = {entry.name for entry in namespace} | {column for entry in namespace for column in entry.columns}
    statement = statement_at(tree, error.line)
    if statement is None or name in known or difflib.get_close_matches(name, known, 1, SIMILARITY):
        return ""
    called = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    if any(isinstance(function, ast.Name) and function.id == name for function in called):
        return ""
    before = code.split("\n")[: statement.lineno - 1]
    return "\n".join([*before, f"{name} ="])
