"""The part of a template's program that makes its table: what only draws is left out."""

from __future__ import annotations

import ast

from jupyter_codeagent.notebook.effects.scopes import bound, own_nodes
from jupyter_codeagent.types.syntax_trees import module_tree

_DRAWING = ("matplotlib", "altair", "plotly")


def table_part(code: str) -> str:
    """Return the statements that the printed lines and the table at the end need; all if the code is no program.

    For the conversation: a small model takes thirty lines of drawing for a pattern to fill in.
    """
    try:
        statements = module_tree(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    drawn = _drawn_names(statements)
    needed: set[str] = set()
    kept: list[ast.stmt] = []
    for statement in reversed(statements):
        names = _named(statement)
        is_shown = statement is statements[-1] or (isinstance(statement, ast.Expr) and "print" in names)
        if not names & drawn and (is_shown or needed & _bound(statement)):
            kept.append(statement)
            needed |= names
    return "\n".join(ast.unparse(statement) for statement in reversed(kept)) or code


def _drawn_names(statements: list[ast.stmt]) -> set[str]:
    """Return the names of libraries that draw, and of what is made with them: figures, axes, charts."""
    drawn: set[str] = set()
    for statement in statements:
        if any(name.startswith(_DRAWING) for name in _imported(statement)) or drawn & _named(statement):
            drawn |= _bound(statement)
    return drawn


def _imported(statement: ast.stmt) -> list[str]:
    """Return the modules that a statement imports, or imports from."""
    if isinstance(statement, ast.ImportFrom):
        return [statement.module or ""]
    return [one.name for one in statement.names] if isinstance(statement, ast.Import) else []


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds, or a part of whose value it sets."""
    parts = (node for node in own_nodes([statement]) if isinstance(node, ast.Subscript | ast.Attribute))
    return {*bound([statement])}.union(*(_named(part) for part in parts if isinstance(part.ctx, ast.Store)))


def _named(tree: ast.AST) -> set[str]:
    """Return the names in a tree, without those that exist in a comprehension alone."""
    inner = [node.target for node in ast.walk(tree) if isinstance(node, ast.comprehension)]
    return _names(tree) - {name for target in inner for name in _names(target)}


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
