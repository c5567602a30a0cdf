"""Find where a failed program has to change: the next reply is prefilled with the program up to there.

If the feedback is that ``verdict`` is not defined, or that the answer has to be *strong* or *weak* and not a
number, a small model writes the same program again; prefilled with its program up to there it computes what was
missing. After any other error it continues with the statement that failed, and need not write again what was
right.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jupyter_codeagent.agent.known_imports import ALIASES
from jupyter_codeagent.agent.rules.error_reading import missing_name, nearest
from jupyter_codeagent.agent.source import (
    before_on_its_line,
    bound_names,
    called_name,
    parse,
    span,
    statement_at,
    text_of,
    used_names,
)
from jupyter_codeagent.types.sandbox import ExecutionError, NamespaceEntry


def resume_at_missing_name(code: str, error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
    """Return the code before the statement that uses a name which nothing binds, and ``name =``.

    Empty if the name is a misspelt one, a column, a function or an import. `error.line` is a line of `code`.
    """
    name, tree = missing_name(error), parse(code)
    if not name or tree is None or error.line is None or name in ALIASES or name in bound_names(tree):
        return ""
    known = {entry.name for entry in namespace} | {column for entry in namespace for column in entry.columns}
    statement = statement_at(tree, error.line)
    if statement is None or name in known or nearest(name, sorted(known), 1):
        return ""
    if name not in used_names(statement):  # raised by `eval` of a value: the program has no such name
        return ""
    called = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    if any(isinstance(function, ast.Name) and function.id == name for function in called):
        return ""
    decorators = getattr(statement, "decorator_list", [])
    first_line = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    return "\n".join([*code.split("\n")[: first_line - 1], f"{name} ="])


def resume_at_error(code: str, error: ExecutionError) -> tuple[str, str] | None:
    """Return the lines before the statement that failed, and its beginning; None if those compute nothing.

    The beginning (``total =``, ``plt.bar(``) is given because the model otherwise leaves the statement out.
    """
    tree = parse(code)
    statement = statement_at(tree, error.line) if tree is not None else None
    if tree is None or statement is None or before_on_its_line(code, statement).strip():
        return None
    done = tree.body[: tree.body.index(statement)]
    if all(isinstance(one, ast.Import | ast.ImportFrom) for one in done):
        return None
    start, _ = span(code, statement)
    match statement:
        case ast.Assign(targets=[ast.Name() | ast.Subscript(slice=ast.Constant(value=str())) as target]):
            begins = f"{text_of(code, target)} ="
        case ast.Expr(value=ast.Call(func=ast.Name() | ast.Attribute(value=ast.Name()) as function)) if (
            error.ename not in ("NameError", "AttributeError")  # the call itself may be what is wrong
        ):
            begins = f"{text_of(code, function)}("
        case ast.For(target=target):
            begins = f"for {text_of(code, target)} in"
        case _:
            return None
    return code[:start], begins


def resume_at_choice(code: str, words: Sequence[str]) -> str:
    """Return the code before its first output, with the words to choose from in a comment, and ``if``.

    The output is the first print or the value at the end. Empty if nothing is computed before it.
    """
    tree = parse(code)
    if tree is None or not tree.body:
        return ""
    outputs = [statement for statement in tree.body if _prints(statement)] or [tree.body[-1]]
    first = outputs[0]
    if not isinstance(first, ast.Expr) or first is tree.body[0] or before_on_its_line(code, first).strip():
        return ""
    before = code[: span(code, first)[0]].rstrip().split("\n")
    while before and (not before[-1].strip() or before[-1].lstrip().startswith("#")):
        before.pop()  # a comment on what is displayed
    return "\n".join([*before, f"# {', '.join(map(repr, words))}", "if"])


def _prints(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Call) and called_name(node) in (("", "print"), ("", "display"))
        for node in ast.walk(statement)
    )
