"""Figures of groups that are written to the rows of their table: pandas finds them no rows, and all are missing.

``df["mean"] = df.groupby("g")["x"].mean()`` runs without an error; `transform` is what is meant.
"""

from __future__ import annotations

import ast

from jupyter_codeagent.agent.rules.rule import Fix, Program, edited
from jupyter_codeagent.agent.rules.words import AGGREGATIONS, FIRST_AND_LAST
from jupyter_codeagent.agent.source import Edit, span

_OF_GROUPS = AGGREGATIONS | FIRST_AND_LAST
_BARS = frozenset({"bar", "barh"})


def broadcast_to_rows(program: Program) -> Fix | None:
    """Use `transform`, and draw a bar for each group where the code draws one for each row.

    Only for a table that has the groups in a column: with the groups as its index, the numbers would find their
    rows.
    """
    tree, code = program.tree, program.code
    columns = {entry.name: entry.columns for entry in program.namespace if entry.type_name == "DataFrame"}
    edits: list[Edit] = []
    for statement in tree.body:
        match statement:
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=frame), slice=ast.Constant(value=str(label)))],
                value=ast.Call(func=ast.Attribute(value=grouped, attr=name), args=[], keywords=[]) as call,
            ) if name in _OF_GROUPS and (key := _key(grouped, frame)) in columns.get(frame, ()):
                start, end = span(code, call)[1] - len(f"{name}()"), span(code, call)[1]
                if code[start:end] != f"{name}()":
                    continue
                edits.append(Edit(start=start, end=end, text=f'transform("{name}")'))
                edits += _one_bar_each(code, tree, frame, label, key)
    return edited(program, edits, "group statistic broadcast to rows with `transform()`")


def _key(grouped: ast.expr, frame: str) -> str:
    """Return the column by which this one column of the frame is grouped; empty for anything else."""
    match grouped:
        case (
            ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=str()))
            | ast.Attribute(value=ast.Call() as call)
        ):
            match call:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr="groupby"),
                    args=[ast.Constant(value=str(key))],
                    keywords=[],
                ) if name == frame:
                    return key
    return ""


def _one_bar_each(code: str, tree: ast.Module, frame: str, label: str, key: str) -> list[Edit]:
    """``df.plot(kind="bar", x="g", y="mean")``."""
    edits = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        words = {word.arg: word.value.value for word in node.keywords if isinstance(word.value, ast.Constant)}
        match node.func:
            case ast.Attribute(value=ast.Name(id=name) as owner, attr="plot"):
                kind = words.get("kind")
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id=name) as owner, attr="plot"), attr=kind):
                pass
            case _:
                continue
        if name == frame and kind in _BARS and (words.get("x"), words.get("y")) == (key, label):
            end = span(code, owner)[1]
            edits.append(Edit(start=end, end=end, text=f".drop_duplicates({key!r})"))
    return edits
