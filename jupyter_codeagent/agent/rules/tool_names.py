"""Correct programs that call the user's functions.

Small models write a function of that name, import it, or give its name to what it returned.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterator
from typing import TypeGuard

from jupyter_codeagent.agent.rules.rule import Fix, Program, edited
from jupyter_codeagent.agent.source import Edit, apply_edits, parse, span

SURELY_ALIKE = 0.75
"""Of `difflib`: ``orign`` for ``origin``."""


def keep_functions(program: Program) -> Fix | None:
    """Drop or rename what would hide one of the user's functions."""
    code, notes = _kept(program.code, program.functions)
    return Fix(code=code, notes=notes) if notes else None


def _kept(code: str, functions: Collection[str]) -> tuple[str, tuple[str, ...]]:
    tree = parse(code)
    if tree is None or not functions:
        return code, ()
    dropped = [(node, name) for node in tree.body if (name := _declared(node, functions))]
    if dropped and len(dropped) < len(tree.body):
        edits = [_without(code, node) for node, _ in dropped]
        notes = tuple(f"line {node.lineno} dropped: {name} is your function" for node, name in dropped)
        rest, further = _kept(apply_edits(code, edits).strip("\n"), functions)
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


def rename_argument(program: Program) -> Fix | None:
    """Rename an argument that the called function does not have, where only one can be meant.

    The only one that is missing, of the value's type, or the only one written nearly so.
    """
    tree, code = program.tree, program.code
    written, mark, rest = program.error.evalue.partition(": got an unexpected keyword argument '")
    declared = parse(f"def {written}: ...") if mark else None
    if declared is None or not isinstance(declared.body[0], ast.FunctionDef):
        return None
    wrong, function = rest.split("'")[0], declared.body[0]
    edits: list[Edit] = []
    right = ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function.name:
            for given in node.keywords:
                if given.arg == wrong and (meant := _meant(node, given, function.args)):
                    start, _ = span(code, given.value)
                    begin = code.rindex(wrong, 0, start)
                    edits.append(Edit(start=begin, end=begin + len(wrong), text=meant))
                    right = meant
    return edited(program, edits, f"renamed argument {wrong} of {function.name} to {right}")


def _meant(call: ast.Call, wrong: ast.keyword, declared: ast.arguments) -> str:
    kinds = {one.arg: one.annotation for one in (*declared.posonlyargs, *declared.args, *declared.kwonlyargs)}
    names = [one.arg for one in (*declared.posonlyargs, *declared.args)]
    optional = {*names[len(names) - len(declared.defaults) :]} if declared.defaults else set()
    names += [one.arg for one in declared.kwonlyargs]
    optional |= {
        one.arg
        for one, default in zip(declared.kwonlyargs, declared.kw_defaults, strict=True)
        if default is not None
    }
    given = {*names[: len(call.args)], *(one.arg for one in call.keywords)}
    unknown = [one.arg for one in call.keywords if one.arg not in names]
    free = [name for name in names if name not in given]
    missing = [name for name in free if name not in optional]
    if len(unknown) != 1 or None in given:
        return ""
    if len(missing) == 1 and _is_of(wrong.value, kinds[missing[0]]):
        return missing[0]
    alike = difflib.get_close_matches(wrong.arg or "", free, n=2, cutoff=SURELY_ALIKE)
    return alike[0] if len(alike) == 1 else ""


def _is_of(value: ast.expr, kind: ast.expr | None) -> bool:
    """Check for a literal of the annotated type."""
    return isinstance(value, ast.Constant) and isinstance(kind, ast.Name) and type(value.value).__name__ == kind.id


def _declared(node: ast.stmt, functions: Collection[str]) -> str:
    """Return which function of the user's the statement defines or imports; empty if it is none."""
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
