"""Rows get the name that the task gives them, and a table that the task reduces keeps its name.

*Call the long ones late. What is their mean?* and *Keep only the planned ones in march. How many are left?*: small
models compute the answer and leave the table out, and later questions about it meet nothing, or rows that should be
gone.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from jupyter_codeagent.agent.prompt.asked_names import named_rows
from jupyter_codeagent.agent.prompt.named_tables import changed_tables, named_tables
from jupyter_codeagent.agent.renaming import NotRenamableError, find_mentions, rename
from jupyter_codeagent.agent.rules.rule import Fix, Program, from_text
from jupyter_codeagent.agent.source import Edit, apply_edits, bound_names, span, text_of

_SELECTING = frozenset(
    {"copy", "drop", "drop_duplicates", "dropna", "head", "nlargest", "nsmallest", "query", "reset_index", "tail"}
)
"""Methods after which a table has its rows, or some of them."""


def change_named_table(program: Program) -> Fix | None:
    """Give the rows that the program takes of the one table to reduce its name: ``march = march[…]``."""
    names = changed_tables(program.prompt, {*program.made_tables} - {*program.copied})
    if len(names) != 1 or program.asked_names:
        return None
    return _bound_to(names[0], {names[0]}, program, f"{names[0]} is changed, as asked")


def name_asked_rows(program: Program) -> Fix | None:
    """Give the rows that the program takes of a table the name that the task gives them and then asks about."""
    name = named_rows(program.prompt)
    tables = {*program.defined} - {*program.functions, name}
    return _bound_to(name, tables, program, f"the rows are {name}, as asked") if name else None


@from_text
def named_table(program: Program) -> str:
    """Report a table that the task names and the program does not read, such as ``long_trips``.

    Small models take the whole table for the part of it that an earlier question has named, or make it anew.
    """
    named = named_tables(program.prompt, program.made_tables)
    missing = [name for name in named if name not in program.asked_names and not _reads(program.tree, name)]
    return f"The task is about {missing[0]}, which exists already. Compute the result from it." if missing else ""


def _reads(tree: ast.Module, name: str) -> bool:
    """Check whether the program reads a variable as it is before it binds it."""
    for statement in tree.body:
        mentions = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id == name]
        if any(isinstance(node.ctx, ast.Load) for node in mentions):
            return True
        if mentions:
            return False
    texts = (
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return any(name in text for text in texts)  # SQL


def _bound_to(name: str, tables: Collection[str], program: Program, note: str) -> Fix | None:
    """Return the program that binds the rows which it takes of one of the tables to this name."""
    tree = program.tree
    if name in bound_names(tree):
        return None
    taking = [
        (at, statement.targets[0])
        for at, statement in enumerate(tree.body)
        if isinstance(statement, ast.Assign) and _takes_rows(statement.value, tables)
    ]
    try:
        code = _renamed(name, program, taking) if taking else _bound_before_use(name, program, tables)
    except NotRenamableError:
        return None
    return Fix(code=code, notes=(note,)) if code else None


def _renamed(name: str, program: Program, taking: Sequence[tuple[int, ast.expr]]) -> str:
    """``few = march[…]`` becomes ``march = march[…]``; empty where it is not certain."""
    at, target = taking[0]
    if len(taking) != 1 or not isinstance(target, ast.Name):
        return ""
    if any(mention.statement > at or mention.is_deferred for mention in find_mentions(program.tree, name)):
        return ""  # it is read again: as it was before
    mentions = find_mentions(program.tree, target.id)
    if any(mention.statement < at for mention in mentions):
        return ""
    return rename(program.code, program.tree, target.id, name, mentions)


def _bound_before_use(name: str, program: Program, tables: Collection[str]) -> str:
    """``print(len(march[…]))`` becomes ``march = march[…]`` and ``print(len(march))``; else empty."""
    tree, code = program.tree, program.code
    taking = [
        (statement, node)
        for statement in tree.body
        if isinstance(statement, ast.Expr | ast.Assign)
        for node in ast.walk(statement)
        if isinstance(node, ast.expr) and _takes_rows(node, tables)
    ]
    outermost = [
        one for one in taking if not any(_contains(other, one[1]) for _, other in taking if other is not one[1])
    ]
    if len(outermost) != 1:
        return ""
    [(statement, rows)] = outermost
    if not all(_contains(rows, mention.node) for mention in find_mentions(tree, name)):
        return ""
    start, end = span(code, rows)
    at = span(code, statement)[0]
    made = Edit(start=at, end=at, text=f"{name} = {text_of(code, rows)}\n")
    return apply_edits(code, [made, Edit(start=start, end=end, text=name)])


def _takes_rows(value: ast.expr, tables: Collection[str]) -> bool:
    """Check for an expression that is a table with some of its rows: ``march[march.nights > 5]``."""
    takes = False
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _SELECTING:
                value, takes = inner, True
            case ast.Subscript(value=ast.Attribute(value=inner, attr="loc"), slice=by) if _is_condition(by):
                value, takes = inner, True
            case ast.Subscript(value=inner, slice=by) if _is_condition(by):
                value, takes = inner, True
            case ast.Name(id=found):
                return takes and found in tables
            case _:
                return False


def _is_condition(by: ast.expr) -> bool:
    return isinstance(by, ast.Compare | ast.BinOp | ast.UnaryOp | ast.Call)


def _contains(outer: ast.AST, inner: ast.AST) -> bool:
    return any(node is inner for node in ast.walk(outer))
