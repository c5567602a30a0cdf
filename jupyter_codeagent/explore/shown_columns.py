"""What a program is about, read off its text: its table, the columns that it names, and what it has answered."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from jupyter_codeagent.explore.question_templates import Answered, Shown
from jupyter_codeagent.types.exploration import Exploration
from jupyter_codeagent.types.operations import Operation
from jupyter_codeagent.types.syntax_trees import module_tree

_WORD = re.compile(r"\w+")
_COUNTS = frozenset({"value_counts", "size", "count", "len"})


def tables_of(code: str, tables: Iterable[str]) -> tuple[str, ...]:
    """Return those of the tables that the code names, in its order; none if it is no plain Python."""
    names = {node.id for node in _nodes(code) if isinstance(node, ast.Name)}
    return tuple(table for table in tables if table in names)


def shown_by_code(code: str, operations: Sequence[Operation], exploration: Exploration) -> Shown | None:
    """Return what a result is about: of the tables that its code names the one of which it names most columns."""
    texts = tuple(_texts(_nodes(code)))
    best: Shown | None = None
    for table in tables_of(code, (one.table for one in exploration.tables)):
        overview = exploration.overview(table)
        columns = _named(texts, [one.name for one in overview.columns] if overview else [])
        if best is None or len(columns) > len(best.columns):
            best = Shown(table=table, columns=columns, answered=frozenset(_answered(operations, columns)))
    return best


def _nodes(code: str) -> list[ast.AST]:
    """Return the nodes of the program in the order of its text; none if it cannot be parsed."""
    try:
        tree = module_tree(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = [node for node in ast.walk(tree) if hasattr(node, "lineno")]
    # An attribute or keyword stands where it ends.
    return sorted(nodes, key=lambda node: (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)))


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.Attribute(attr=name):
                yield name
            case ast.keyword(arg=str(name)):
                yield name


def _named(texts: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a text is, or that a query names among other words."""
    known = dict.fromkeys(columns)
    found: dict[str, None] = {}
    for text in texts:
        words = [text] if text in known else [word for word in _WORD.findall(text) if word in known]
        found.update(dict.fromkeys(words))
    return tuple(found)


def _answered(operations: Sequence[Operation], columns: Sequence[str]) -> Iterator[Answered]:
    """Yield the questions that the code has answered, by what was counted while it ran."""
    for one in operations:
        keys = [name for fact in one.facts if fact.kind == "groups" for name in _named([fact.label], columns)]
        values = _named([one.detail], columns)
        if not keys:
            continue
        if one.name in _COUNTS and len(keys) == 1:
            yield "counts", frozenset(keys)
        if one.name == "mean" or "mean" in one.detail:
            for value in values:
                yield "means" if len(keys) == 1 else "means_within", frozenset({value, *keys})
