"""Several results that are made of the same expression: of three groups each has the figure of the first."""

from __future__ import annotations

import ast
from itertools import groupby

from jupyter_codeagent.agent.rules.rule import Program, from_text
from jupyter_codeagent.agent.source import base_names, called_name, used_names

_DRAWN = frozenset({
    "sample", "choice", "normal", "uniform", "integers", "rand", "randn", "randint", "permutation", "random",
    "poisson", "binomial", "exponential", "gamma", "beta", "rvs", "resample",
})  # fmt: skip


@from_text
def duplicate_expressions(program: Program) -> str:
    """Report ``low = df["x"].mean()`` and ``high = df["x"].mean()``, one below the other.

    Only where a column is read (``a = df.copy()`` and ``b = df.copy()`` are fine), and where none of the results is
    changed later.
    """
    body = program.tree.body
    for _, group in groupby(body, key=_computed):
        found = [statement for statement in group if isinstance(statement, ast.Assign)]
        names = list(dict.fromkeys(ast.unparse(statement.targets[0]) for statement in found))
        bound = {name for statement in found for name in (*base_names(statement.targets[0]), *_changed(statement))}
        later = (statement for statement in body if found and statement.lineno > found[-1].lineno)
        if len(names) > 1 and not any(bound & _changed(statement) for statement in later):
            return (
                f"{', '.join(names[:-1])} and {names[-1]} are made of the same expression, so they cannot differ: "
                "compute each from its own rows or values."
            )
    return ""


def _computed(statement: ast.stmt) -> object:
    """Return what a statement computes from a column; any other statement stands for itself."""
    match statement:
        case ast.Assign(targets=[_], value=value) if _reads_a_column(value) and not _changed(statement) & _read(
            value
        ):
            return ast.dump(value)
    return statement


def _changed(statement: ast.stmt) -> set[str]:
    """Names that a statement binds or may change; of a column that it writes the label alone."""
    changed: set[str] = set()
    for node in ast.walk(statement):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(), slice=ast.Constant(value=str(label)))]):
                changed.add(label)
            case ast.Assign(targets=targets):
                changed.update(name for target in targets for name in base_names(target))
            case ast.AugAssign(target=target) | ast.For(target=target):
                changed.update(base_names(target))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))) | ast.Delete(targets=[owner]):
                changed.update(base_names(owner))
    return changed


def _read(value: ast.expr) -> set[str]:
    """Names and texts of an expression."""
    texts = (node.value for node in ast.walk(value) if isinstance(node, ast.Constant))
    return used_names(value) | {text for text in texts if isinstance(text, str)}


def _reads_a_column(value: ast.expr) -> bool:
    calls = {called_name(node)[1] for node in ast.walk(value) if isinstance(node, ast.Call)}
    columns = (node.slice for node in ast.walk(value) if isinstance(node, ast.Subscript))
    has_column = any(isinstance(label, ast.Constant) and isinstance(label.value, str) for label in columns)
    return has_column and bool(calls) and not calls & _DRAWN
