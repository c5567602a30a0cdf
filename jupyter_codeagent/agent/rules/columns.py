"""Certain corrections of code that means a column or a table and names it in a way that Python does not follow."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from jupyter_codeagent.agent.prompt.hints import frames, missing_labels, missing_name
from jupyter_codeagent.agent.rules.rewrite import LOADER, Prepared, edited
from jupyter_codeagent.agent.source import Edit, called_name, is_on, single_values, span, statement_at, used_names
from jupyter_codeagent.types.sandbox import ExecutionError, NamespaceEntry

_FILE = re.compile(r"(?<![\w-])([\w-]+)\.\w{2,8}$")


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


def group_what_it_is_of(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``decade = macro["year"] // 10 * 10`` and ``decade.groupby(decade)["infl"]``: the table has this column."""
    labels = missing_labels(error)
    values = single_values(tree)
    edits = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=series) as owner, attr="groupby"), args=[ast.Name(id=key)]
            ) if series == key and series in values and labels and is_on(node, error.line):
                tables = list(used_names(values[series]))
                if len(tables) == 1 and all(_has(tables[0], label, namespace) for label in labels):
                    start, end = span(code, owner)
                    edits.append(Edit(start=start, end=end, text=tables[0]))
    return edited(code, edits, f"the table of {' and '.join(map(repr, labels))} is what is grouped")


def use_the_joined_table(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``planes.groupby("origin")["seats"]`` where `flown` is there, which was joined of `planes` and `flights`.

    Only where the statement reads one table, writes none, and one other table alone has every column in it.
    """
    statement = statement_at(tree, error.line)
    missing = set(missing_labels(error))
    if statement is None or not missing:
        return None
    tables = {entry.name: frozenset(entry.columns) for entry in frames(namespace)}
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id in tables]
    if len({node.id for node in names}) != 1 or any(isinstance(node.ctx, ast.Store) for node in names):
        return None
    columns, known = tables[names[0].id], frozenset().union(*tables.values())
    if missing & columns or any(isinstance(getattr(node, "ctx", None), ast.Store) for node in _parts(statement)):
        return None
    texts = {node.value for node in ast.walk(statement) if isinstance(node, ast.Constant)}
    attributes = {node.attr for node in ast.walk(statement) if isinstance(node, ast.Attribute)}
    wanted = missing | {text for text in texts | attributes if isinstance(text, str) and text in known}
    having = [name for name, others in tables.items() if wanted <= others]
    if "drop" in attributes or len(having) != 1:
        return None
    joined = tables[having[0]]
    if not any(_is_join(joined, columns, other) for other in tables.values() if missing <= other):
        return None
    edits = [Edit(start=start, end=end, text=having[0]) for start, end in (span(code, node) for node in names)]
    return edited(code, edits, f"{having[0]} has {' and '.join(map(repr, sorted(wanted)))}, {names[0].id} has not")


def _is_join(whole: frozenset[str], one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a table with these columns was joined of two with those: it has what only the one has, what only the
    other has, and nothing else. Of tables of the same kind, of two years say, not each has something of its own."""
    own = {re.sub(r"_[xy]$", "", column) for column in whole}
    return bool(own <= one | other and own & (one - other) and own & (other - one) and one - own <= other)


def _parts(statement: ast.stmt) -> list[ast.AST]:
    """Subscripts and attributes: what is written to a table."""
    return [node for node in ast.walk(statement) if isinstance(node, ast.Subscript | ast.Attribute)]


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
