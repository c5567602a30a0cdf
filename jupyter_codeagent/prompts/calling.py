"""Programs that call the user's functions, and what small models do to these: write a function of that name, import
it, or give its name to what it returned."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TypeGuard

from jupyter_codeagent.prompts.source import Edit, apply_edits, parse, span


def keep_functions(code: str, functions: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """The code with what would hide one of `functions` dropped or renamed, and notes of it."""
    tree = parse(code)
    if tree is None or not functions:
        return code, ()
    dropped = [(node, name) for node in tree.body if (name := _declared(node, functions))]
    if dropped and len(dropped) < len(tree.body):
        edits = [_without(code, node) for node, _ in dropped]
        notes = tuple(f"line {node.lineno} dropped: {name} is your function" for node, name in dropped)
        rest, further = keep_functions(apply_edits(code, edits).strip("\n"), functions)
        return rest, (*notes, *further)
    hidden = {node.id for node in ast.walk(tree) if _is_bound(node) and node.id in functions}
    edits = [
        Edit(start=start, end=end, text=f"{node.id}_result")
        for node in _variables(tree, hidden)
        for start, end in [span(code, node)]
    ]
    return apply_edits(code, edits), tuple(
        f"{name} is your function, so the variable is {name}_result" for name in sorted(hidden)
    )


def _declared(node: ast.stmt, functions: Collection[str]) -> str:
    """Of which function it makes another one; empty if of none."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name if node.name in functions else ""
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.asname or alias.name for alias in node.names]
        return names[0] if all(name in functions for name in names) else ""
    return ""


def _without(code: str, node: ast.stmt) -> Edit:
    """Whole lines, decorators included."""
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    lines = code.splitlines(keepends=True)
    start = sum(map(len, lines[: first - 1]))
    return Edit(start=start, end=start + sum(map(len, lines[first - 1 : node.end_lineno])), text="")


def _is_bound(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _variables(tree: ast.Module, names: Collection[str]) -> Iterator[ast.Name]:
    """Where these names stand for the variable: everywhere but where they are called or handed to `tools.map`."""
    functions = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for part in (node.func, *(node.args[:1] if ast.unparse(node.func) in ("tools.map", "map") else ()))
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names and id(node) not in functions:
            yield node
