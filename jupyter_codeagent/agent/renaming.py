"""Rename a variable of a program in every scope that means it, without touching the rest of the text."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.agent.source import Edit, apply_edits, called_name, parse, span, text_of
from jupyter_codeagent.notebook.effects.scopes import bound, declared, parameters

_QUERIES = frozenset({"query", "eval"})
"""Methods of frames whose text names variables: ``df.query("n > @least")``."""
_READ_AS_CODE = frozenset({("pd", "eval"), ("pandas", "eval"), ("ne", "evaluate"), ("numexpr", "evaluate")})
"""Functions whose text names variables without a mark."""
_SQL = frozenset({"sql", "query", "execute", "sqldf", "read_sql", "read_sql_query"})
"""Functions of libraries that look for the tables of a query among the variables, as DuckDB and polars do."""


class NotRenamableError(ValueError):
    """It is not certain where the program means the name."""


@dataclass(frozen=True, kw_only=True)
class Mention:
    """One place of a program that means a variable of the top level."""

    node: ast.Name | ast.Global | ast.FunctionDef | ast.AsyncFunctionDef | ast.Constant
    """A constant is the text of a query."""
    statement: int
    """The position of its top-level statement in the program."""
    is_deferred: bool
    """Whether it is in a function, whose body runs later than it stands there."""

    @property
    def binds(self) -> bool:
        """Whether the name gets another value here, or is deleted."""
        if isinstance(self.node, ast.Name):
            return not isinstance(self.node.ctx, ast.Load)
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef)


def find_mentions(tree: ast.Module, name: str) -> tuple[Mention, ...]:
    """Return every place that means the variable of the top level.

    Raises
    ------
    NotRenamableError
        A text that is read as code may mean it, or it is bound in a way that is not renamed, as by an import.
    """
    _check_texts(tree, name)
    return tuple(
        Mention(node=node, statement=at, is_deferred=is_deferred)
        for at, statement in enumerate(tree.body)
        for node, is_deferred in _in(statement, name, hidden=False, deferred=False)
    )


def rename(code: str, tree: ast.Module, name: str, new: str, found: Iterable[Mention]) -> str:
    """Return the code with the new name in these places of its tree, and no other change.

    Raises
    ------
    NotRenamableError
        The text cannot be edited so.
    """
    nodes = [mention.node for mention in found]
    edited = apply_edits(code, [_edit(code, node, name, new) for node in nodes])
    copies: dict[int, Any] = {}
    meant = copy.deepcopy(tree, copies)
    for node in nodes:
        _rename_node(copies[id(node)], name, new)
    made = parse(edited)
    if made is None or ast.dump(made) != ast.dump(meant):  # f"{df=}" displays the name as well
        raise NotRenamableError(name)
    return edited


def _edit(code: str, node: ast.Name | ast.Global | ast.stmt | ast.Constant, name: str, new: str) -> Edit:
    start, end = span(code, node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        head = re.compile(rf"(?:async\s+)?def\s+(?={re.escape(name)}\b)").match(code, start)
        if head is None:
            raise NotRenamableError(name)
        return Edit(start=head.end(), end=head.end() + len(name), text=new)
    return Edit(start=start, end=end, text=_in_text(text_of(code, node), node, name, new))


def _in_text(text: str, node: ast.AST, name: str, new: str) -> str:
    mark = "(?<=@)" if isinstance(node, ast.Constant) else r"\b"
    return re.sub(rf"{mark}{re.escape(name)}\b", new, text)


def _rename_node(node: ast.AST, name: str, new: str) -> None:
    match node:
        case ast.Name():
            node.id = new
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            node.name = new
        case ast.Global():
            node.names = [new if one == name else one for one in node.names]
        case ast.Constant(value=str(text)):
            node.value = _in_text(text, node, name, new)


# --- where a name is meant ------------------------------------------------------------------------------

_Found = Iterator[tuple[Any, bool]]
"""Node, and whether it runs later than it stands there."""


def _in(node: ast.AST, name: str, *, hidden: bool, deferred: bool) -> _Found:
    """Yield the nodes that mean the variable; `hidden`, if a local one of the same name is meant here."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            yield from _in_function(node, name, hidden=hidden, deferred=deferred)
        case ast.ClassDef():
            if node.name == name or name in bound(node.body):
                raise NotRenamableError(name)
            yield from _in_all(ast.iter_child_nodes(node), name, hidden=hidden, deferred=deferred)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _in_comprehension(node, name, hidden=hidden, deferred=deferred)
        case ast.Global(names=names) if name in names:
            yield node, deferred
        case ast.Name(id=found):
            if found == name and not hidden:
                yield node, deferred
        case ast.Call(func=ast.Attribute(attr=attribute), args=[ast.Constant(value=str(text)), *_]) if (
            attribute in _QUERIES and _marked(name, text) and not hidden
        ):
            yield node.args[0], deferred
            yield from _in_all(ast.iter_child_nodes(node), name, hidden=hidden, deferred=deferred)
        case _:
            if not hidden and _binds_in_words(node, name):
                raise NotRenamableError(name)
            yield from _in_all(ast.iter_child_nodes(node), name, hidden=hidden, deferred=deferred)


def _in_all(nodes: Iterable[ast.AST], name: str, *, hidden: bool, deferred: bool) -> _Found:
    for node in nodes:
        yield from _in(node, name, hidden=hidden, deferred=deferred)


def _in_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str, *, hidden: bool, deferred: bool
) -> _Found:
    body: Sequence[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else node.body
    if not isinstance(node, ast.Lambda) and node.name == name and not hidden:
        yield node, deferred
    inside = {id(part) for part in body}
    outside = [part for part in ast.iter_child_nodes(node) if id(part) not in inside]
    yield from _in_all(outside, name, hidden=hidden, deferred=deferred)
    if name in declared(body):
        hidden = False
    elif name in bound(body) or name in {one.arg for one in parameters(node.args)}:
        hidden = True
    yield from _in_all(body, name, hidden=hidden, deferred=True)


def _in_comprehension(
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, name: str, *, hidden: bool, deferred: bool
) -> _Found:
    first = node.generators[0].iter
    yield from _in(first, name, hidden=hidden, deferred=deferred)
    hidden = hidden or name in bound([one.target for one in node.generators])
    deferred = deferred or isinstance(node, ast.GeneratorExp)
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.comprehension):
            others = [one for one in ast.iter_child_nodes(part) if one is not first]
            yield from _in_all(others, name, hidden=hidden, deferred=deferred)
        else:
            yield from _in(part, name, hidden=hidden, deferred=deferred)


def _binds_in_words(node: ast.AST, name: str) -> bool:
    """Check for what binds the name without a node of its own."""
    match node:
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return any((one.asname or one.name.partition(".")[0]) == name for one in aliases)
        case ast.ExceptHandler(name=found) | ast.MatchAs(name=found) | ast.MatchStar(name=found):
            return found == name
        case ast.MatchMapping(rest=found):
            return found == name
    return False


# --- texts that are read as code ------------------------------------------------------------------------


def _check_texts(tree: ast.Module, name: str) -> None:
    """Raise if a text may mean the variable and is not the text of a query as it is written in the code."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    queries = {id(call.args[0]) for call in calls if called_name(call)[1] in _QUERIES and call.args}
    word, table = re.compile(rf"\b{re.escape(name)}\b"), _as_table(name)
    reads_code = any(called_name(call) in _READ_AS_CODE for call in calls)
    reads_sql = any(called_name(call)[1] in _SQL for call in calls)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            in_query = _marked(name, node.value) and id(node) not in queries
            in_code = reads_code and word.search(node.value) is not None
            in_sql = reads_sql and table.search(node.value) is not None
            if in_query or in_code or in_sql:
                raise NotRenamableError(name)


def _as_table(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:from|join|into|update|table|describe|summarize)\s+[\"'`]?{re.escape(name)}\b", re.I)


def _marked(name: str, text: str) -> bool:
    return re.search(rf"@{re.escape(name)}\b", text) is not None
