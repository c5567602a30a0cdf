"""Complete a program that continues a failed attempt, or the version it replaces, and uses names made there.

In the sandbox they still exist; in the user's notebook, where the attempt never becomes a cell and the version
before is replaced, they would be missing. So the lines that made them are put in front.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Sequence

from jupyter_codeagent.agent.rules.rule import Fix
from jupyter_codeagent.agent.rules.words import DISPLAYING
from jupyter_codeagent.agent.source import bound_names, called_name, parse, span, used_names
from jupyter_codeagent.types.run import Step

NOTE = "starts with lines of the previous program"
_DISPLAYING = DISPLAYING | {"show", "head", "info", "describe"}


def make_self_contained(code: str, attempts: Sequence[Step], known: Collection[str]) -> Fix:
    """Return the code, preceded by the lines of the latest attempt that made the names it needs.

    `known` are names that need not be made.
    """
    tree = parse(code)
    missing = _missing(tree, known) if tree is not None else set()
    for attempt in reversed(attempts):
        done = _done(attempt)
        made = bound_names(ast.Module(body=done, type_ignores=[]))
        if missing & made:
            lines = [attempt.code[slice(*span(attempt.code, statement))] for statement in done]
            whole = "\n".join((*lines, code))
            again = parse(whole)
            # What an earlier question made may stay missing here: its cells stand above.
            if again is not None and not _missing(again, known) & missing & made:
                return Fix(code=whole, notes=(NOTE,))
    return Fix(code=code)


def _missing(tree: ast.Module, known: Collection[str]) -> set[str]:
    """Return the names that are read and never bound."""
    return used_names(tree) - bound_names(tree) - set(known) - set(dir(builtins))


def _done(attempt: Step) -> list[ast.stmt]:
    """Return the top-level statements of an attempt that ran, without those that only display something."""
    tree = parse(attempt.code)
    if tree is None or attempt.result is None:
        return []
    error = attempt.result.error
    if error is not None and error.line is None:
        return []
    ran = [statement for statement in tree.body if error is None or (statement.end_lineno or 0) < (error.line or 0)]
    return [statement for statement in ran if not _only_displays(statement)]


def _only_displays(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call() as call):
            return called_name(call)[1] in _DISPLAYING
        case ast.Expr(value=ast.Name() | ast.Attribute() | ast.Subscript() | ast.Constant()):
            return True
    return False
