"""What a program changes of the user's variables, as far as its text shows: names, and values in place."""

from __future__ import annotations

import ast
import copy
import re
from dataclasses import dataclass
from functools import lru_cache

from jupyter_codeagent.agent.source import parse
from jupyter_codeagent.notebook.effects.analysis import CodeEffects, code_effects
from jupyter_codeagent.notebook.effects.visitor import InPlace

_TABLE = re.compile(r"\w*(?:DataFrame|Series|Index|array|Array|matrix)")
"""pandas and its subclasses, numpy, sparse matrices."""
_PANDAS = re.compile(r"\w*(?:DataFrame|Series|Index)")
_CONTAINERS = frozenset({"list", "dict", "set", "bytearray", "deque", "Counter", "defaultdict", "OrderedDict"})
_IN_PANDAS = frozenset({"", "insert", "pop", "update", "__setitem__", "__delitem__", "__setattr__", "__delattr__"})
"""Those of `notebook.effects.tables.IN_PLACE` that pandas has, and that change a value there."""
_IN_POLARS = frozenset({"", "insert_column", "replace_column", "drop_in_place", "extend", "append"})


@dataclass(frozen=True, kw_only=True)
class UserVariable:
    """A variable of the user's, as a program may change it."""

    name: str
    type_name: str

    def effects(self, code: str) -> CodeEffects:
        """Return what the code does to all names."""
        return _effects(code, in_containers=self.type_name in _CONTAINERS)

    def is_changed(self, code: str) -> bool:
        """Check whether the code binds the name anew, or changes the value."""
        effects = self.effects(code)
        return self.name in (*effects.binds, *effects.deletes) or bool(self.ways(code))

    def ways(self, code: str) -> frozenset[InPlace]:
        """Return how the code changes the value in place; numbers and texts never change."""
        found = self.effects(code).in_place.get(self.name, frozenset())
        if self.type_name.startswith("polars."):  # parts of a polars frame are values of their own
            return frozenset(way for way in found if way.method in _IN_POLARS and not way.inside)
        if _PANDAS.fullmatch(self.type_name):
            return frozenset(way for way in found if way.method in _IN_PANDAS)
        if self.type_name in _CONTAINERS or self.type_name.startswith("xarray."):
            return frozenset(way for way in found if way.method != "+=")
        return found if _TABLE.fullmatch(self.type_name) else frozenset()

    def is_changed_itself(self, code: str) -> bool:
        """Check whether it is more than rows selected from it that changes.

        ``jfk = df[df.origin == "JFK"]`` and ``jfk["x"] = 1``: pandas has copied those rows.
        """
        only_parts = all(way.inside for way in self.ways(code)) and self.name not in self.effects(code).binds
        if not only_parts or not _PANDAS.fullmatch(self.type_name):
            return self.is_changed(code)
        return self.is_changed(ast.unparse(_SelectionsCopied(self.name).visit(_own_tree(code))))

    @property
    def copied(self) -> str:
        """The call that copies it, if it is a table: ``.copy()``."""
        if self.type_name.startswith("polars."):
            return ".clone()"
        if self.type_name.startswith("xarray."):
            return ".copy(deep=True)"
        return ".copy()" if _TABLE.fullmatch(self.type_name) else ""


@lru_cache(maxsize=16)
def _effects(code: str, *, in_containers: bool) -> CodeEffects:
    """Return the effects of code; `in_containers` with those on what a list or a dict and its copy share."""
    if in_containers and parse(code) is not None:
        return code_effects(ast.unparse(_PartsShared().visit(_own_tree(code))))
    return code_effects(code)


def _own_tree(code: str) -> ast.Module:
    """Return a tree that may be changed, unlike the one that all rules share."""
    tree = parse(code)
    assert tree is not None
    return copy.deepcopy(tree)


class _SelectionsCopied(ast.NodeTransformer):
    """Writes ``df[df.n > 1].copy()`` for ``df[df.n > 1]``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Subscript(
                value=ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="loc"),
                slice=ast.Tuple(elts=[rows, *_]) | rows,
                ctx=ast.Load(),
            ) if name == self._name and _selects_rows(rows):
                return ast.Call(func=ast.Attribute(value=node, attr="copy", ctx=ast.Load()), args=[], keywords=[])
        return node


def _selects_rows(rows: ast.expr) -> bool:
    """Check for a condition, or a list of labels."""
    is_call = isinstance(rows, ast.Call) and isinstance(rows.func, ast.Attribute)
    return is_call or isinstance(rows, ast.Compare | ast.BinOp | ast.UnaryOp | ast.List)


class _PartsShared(ast.NodeTransformer):
    """Writes ``list(rows)`` for ``rows.copy()`` and ``rows + more``, whose parts are those of `rows` too."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="copy"), args=[]):
                return _listed(value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return _listed(node.left, node.right) if isinstance(node.op, ast.Add | ast.BitOr) else node


def _listed(*parts: ast.expr) -> ast.Call:
    return ast.Call(func=ast.Name(id="list", ctx=ast.Load()), args=list(parts), keywords=[])
