"""Calls that today's pandas and scikit-learn refuse, and what they take instead.

Each is corrected only where exactly one thing can be meant: one run more instead of one call of the model more.
"""

from __future__ import annotations

import ast
import re

from jupyter_codeagent.agent.known_imports import with_imports
from jupyter_codeagent.agent.rules.rule import Fix, Program, edited
from jupyter_codeagent.agent.source import (
    Edit,
    called_name,
    span,
    statement_at,
)

_FORMAT = re.compile(
    r"unsupported format string passed to (?:Series|DataFrame|Index|ndarray|numpy\.ndarray)\.__format__"
)
_PLACEHOLDER = re.compile(r"\{([^{}:!]+):,?\.(\d)f\}")


def round_columns(program: Program) -> Fix | None:
    """Round a whole column in place of ``f"{means:.2f}"``: rounding works for columns and single numbers alike."""
    tree, code, error = program.tree, program.code, program.error
    if error.line is None or not _FORMAT.search(error.evalue):
        return None
    lines = code.split("\n")
    statement = statement_at(tree, error.line)
    if statement is None:
        return None
    for at in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
        lines[at] = _PLACEHOLDER.sub(r"{np.round(\1, \2)}", lines[at])
    fixed = with_imports("\n".join(lines), program.names)
    return Fix(code=fixed, notes=("rounded the column instead of formatting it",))


def root_of_squared(program: Program) -> Fix | None:
    """Take the root of ``mean_squared_error(a, b, squared=False)``, which was the root until scikit-learn 1.6."""
    tree, code, error = program.tree, program.code, program.error
    if "unexpected keyword argument 'squared'" not in error.evalue:
        return None
    edits = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or called_name(node)[1] != "mean_squared_error":
            continue
        for word in node.keywords:
            if word.arg == "squared" and isinstance(word.value, ast.Constant):
                start, end = span(code, node)
                kept = [ast.unparse(part) for part in node.args]
                kept += [ast.unparse(other) for other in node.keywords if other is not word]
                called = f"{ast.unparse(node.func)}({', '.join(kept)})"
                edits.append(Edit(start=start, end=end, text=called if word.value.value else f"{called} ** 0.5"))
    note = "replaced squared=False by a square root"
    return edited(program, edits, note)
