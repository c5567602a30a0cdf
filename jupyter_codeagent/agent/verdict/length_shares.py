"""Shares that a program computes as one number of rows by another: ``len(df[df["smokes"] == 1]) / len(df)``.

Pure functions of the program's text.
"""

from __future__ import annotations

import ast

from jupyter_codeagent.types.syntax_trees import module_tree


def filters_by_whole(code: str) -> frozenset[int]:
    """Return the lines of selections whose number of rows is divided by that of the table they are taken from."""
    try:
        tree = module_tree(code)
    except SyntaxError:
        return frozenset()  # it has lines for IPython
    names = _assigned_once(tree)
    lines = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            part, whole = _counted(node.left, names), _counted(node.right, names)
            if isinstance(part, ast.Name):
                part = names.get(part.id, part)
            if isinstance(part, ast.Subscript) and whole is not None and _is_same(_table_of(part), whole):
                lines.add(part.lineno)
    return frozenset(lines)


def _assigned_once(tree: ast.AST) -> dict[str, ast.expr]:
    """Return the value of each name that is assigned once."""
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(node.value)
    return {name: found[0] for name, found in values.items() if len(found) == 1}


def _counted(node: ast.expr, names: dict[str, ast.expr]) -> ast.expr | None:
    """Return the table whose rows an expression counts: ``len(df)``, ``df.shape[0]``, ``len(df) * 100``, a name."""
    match node:
        case ast.Name(id=name) if name in names:
            return _counted(names[name], {})
        case (
            ast.BinOp(op=ast.Mult(), left=ast.Constant(), right=count)
            | ast.BinOp(op=ast.Mult(), left=count, right=ast.Constant())
        ):
            return _counted(count, names)
        case ast.Call(func=ast.Name(id="len"), args=[table]):
            return table
        case ast.Subscript(value=ast.Attribute(value=table, attr="shape"), slice=ast.Constant(value=0)):
            return table
        case _:
            return None


def _table_of(part: ast.Subscript) -> ast.expr:
    is_located = isinstance(part.value, ast.Attribute) and part.value.attr == "loc"
    return part.value.value if is_located and isinstance(part.value, ast.Attribute) else part.value


def _is_same(one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(one) == ast.unparse(other)
