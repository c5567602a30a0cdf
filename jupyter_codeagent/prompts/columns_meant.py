"""Certain corrections of code that means a column or a table and names it in a way that Python does not follow."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from jupyter_codeagent.prompts.hints import frames, missing_labels, missing_name
from jupyter_codeagent.prompts.rewrite import LOADER, Prepared, edited
from jupyter_codeagent.prompts.source import Edit, called_name, span
from jupyter_codeagent.values import ExecutionError, NamespaceEntry

_FILE = re.compile(r"([\w-]+)\.\w{2,8}$")


def quote_column(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``df[price]`` where no variable has this name and the frame has such a column."""
    name = missing_name(error)
    edits = []
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name(id=frame), slice=ast.Name(id=label) as index) if label == name:
                if _has(frame, label, namespace):
                    start, end = span(code, index)
                    edits.append(Edit(start=start, end=end, text=repr(label)))
    return edited(code, edits, f"{name} is a column: {name!r}")


def group_the_table(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``df["x"].groupby("g")``: a column alone does not know the others."""
    labels = missing_labels(error)
    if error.ename != "KeyError" or len(labels) != 1:
        return None
    edits = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Subscript(value=ast.Name(id=frame), slice=ast.Constant(value=str())) as column,
                    attr="groupby",
                ),
                args=[ast.Constant(value=str(label))],
            ) if label == labels[0] and _has(frame, label, namespace):
                start, end = span(code, node)
                called = code[span(code, column)[1] : end]
                index = code[span(code, column.value)[1] : span(code, column)[1]]
                edits.append(Edit(start=start, end=end, text=f"{frame}{called}{index}"))
    return edited(code, edits, f"grouped by {labels[0]!r} of the table")


def use_what_is_loaded(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``x = load_penguins()`` and ``x = pd.read_csv("penguins.csv")`` where the table `penguins` is there.

    Only the call that failed: its function is missing, or the package it comes of, or the file that it reads.
    """
    if error.ename not in ("NameError", "FileNotFoundError", "ModuleNotFoundError", "ImportError"):
        return None
    loaded = {entry.name.lower(): entry.name for entry in frames(namespace)}
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    edits, names = [], []
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as call) if name := loaded.get(
                _asked_table(call).lower(), ""
            ):
                owner, called = called_name(call)
                if called in defined or (error.ename == "NameError" and missing_name(error) not in (owner, called)):
                    continue
                start, end = span(code, call)
                edits.append(Edit(start=start, end=end, text=f"{name}.copy()"))
                names.append(name)
    return edited(code, edits, f"{', '.join(dict.fromkeys(names))} is loaded already")


def _asked_table(call: ast.Call) -> str:
    """`penguins` of ``load_penguins()``, ``load_dataset("penguins")`` and ``pd.read_csv("data/penguins.csv")``."""
    loader = LOADER.fullmatch(called_name(call)[1])
    match call.args:
        case [ast.Constant(value=str(text)), *_] if loader is not None:
            file = _FILE.search(text)
            return file.group(1) if file is not None else text
    return loader["table"] if loader is not None else ""


def _has(frame: str, label: str, namespace: Sequence[NamespaceEntry]) -> bool:
    return any(entry.name == frame and label in entry.columns for entry in namespace)
