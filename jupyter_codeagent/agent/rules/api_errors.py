"""Calls that today's pandas, matplotlib and scikit-learn refuse, and what they take instead.

Each is corrected only where exactly one thing can be meant: one run more instead of one call of the model more.
"""

from __future__ import annotations

import ast
import re

from jupyter_codeagent.agent.known_imports import with_imports
from jupyter_codeagent.agent.rules.api_changes import FREQUENCIES
from jupyter_codeagent.agent.rules.rule import Fix, Program, edited
from jupyter_codeagent.agent.source import (
    Edit,
    add_argument,
    called_name,
    is_on,
    span,
    statement_at,
)

_NUMERIC_ONLY = re.compile(r"with string dtype|does not support operation|could not convert string to float")
_FORMAT = re.compile(
    r"unsupported format string passed to (?:Series|DataFrame|Index|ndarray|numpy\.ndarray)\.__format__"
)
_PLACEHOLDER = re.compile(r"\{([^{}:!]+):,?\.(\d)f\}")
_TAKE_FREQUENCY = frozenset({"resample", "Grouper", "date_range", "asfreq", "floor", "ceil", "round"})
_NUMERIC_ONLY_METHODS = frozenset({"mean", "median", "std", "var", "corr", "quantile", "skew"})


def frequency(program: Program) -> Fix | None:
    """Pandas itself said which alias it no longer takes, so this is no period."""
    tree, code, error = program.tree, program.code, program.error
    match = re.search(r"Invalid frequency: (\d*)([A-Z]{1,2})\b", error.evalue)
    if match is None or "for Period" in error.evalue or match.group(2) not in FREQUENCIES:
        return None
    old, new = match.group(1) + match.group(2), match.group(1) + FREQUENCIES[match.group(2)]
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and called_name(node)[1] in _TAKE_FREQUENCY
    ]
    arguments = [
        value
        for call in calls
        for value in [*call.args[:1], *(word.value for word in call.keywords if word.arg in ("freq", "rule"))]
    ]
    values = [value for value in arguments if isinstance(value, ast.Constant) and value.value == old]
    edits = [Edit(start=start, end=end, text=repr(new)) for start, end in (span(code, value) for value in values)]
    return edited(program, edits, f"frequency {old!r} is now {new!r}")


def numeric_only(program: Program) -> Fix | None:
    """``frame.mean()`` left text columns out by itself before pandas 2."""
    tree, code, error = program.tree, program.code, program.error
    if not _NUMERIC_ONLY.search(error.evalue):
        return None
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        and node.func.attr in _NUMERIC_ONLY_METHODS and not node.args and not node.keywords
        and is_on(node, error.line)
    ]  # fmt: skip
    edits = [add_argument(code, call, "numeric_only=True") for call in calls]
    return edited(program, edits, "added numeric_only=True")


def round_columns(program: Program) -> Fix | None:
    """``f"{means:.2f}"`` of a whole column: rounding works for columns and single numbers alike."""
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
    """``mean_squared_error(a, b, squared=False)`` was the root until scikit-learn 1.6."""
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
