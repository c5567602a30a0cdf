"""Names and their bindings in the scopes of code."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

PARAMETER = "\0"
"""Prefix of a parameter's name among the roots: changes through it affect the caller's value."""


@dataclass
class NameBindings:
    """The bindings of names at one point of the code, in one scope."""

    own: set[str]
    """Names that certainly have a value made by the code itself."""
    aliases: dict[str, frozenset[str]]
    """Name -> outer names whose value, or a part of it, it may be."""
    direct: set[str]
    """Those of `aliases` that are the whole value, not a part."""
    shallow: set[str]
    """Those of `aliases` that are new containers, with the parts of the value in them."""

    def copy(self) -> NameBindings:
        """Return an independent copy."""
        return NameBindings(set(self.own), dict(self.aliases), set(self.direct), set(self.shallow))

    def merge(self, other: NameBindings) -> NameBindings:
        """Return the bindings after two alternative branches."""
        names = self.aliases.keys() | other.aliases.keys()
        empty: frozenset[str] = frozenset()
        aliases = {n: self.aliases.get(n, empty) | other.aliases.get(n, empty) for n in names}
        return NameBindings(self.own & other.own, aliases, self.direct | other.direct, self.shallow & other.shallow)


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Return all parameters of a function."""
    rest = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def is_function(node: ast.AST) -> bool:
    """Check whether a node defines a function."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def own_nodes(nodes: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """Yield all nodes of this scope; of inner scopes only those that bind names here."""
    for node in nodes:
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            yield from (inner for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
            continue
        yield from own_nodes(ast.iter_child_nodes(node))


def bound(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that this scope binds."""
    found: set[str] = set()
    for node in own_nodes(nodes):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.NamedExpr(target=ast.Name(id=name)):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                found |= {alias.asname or alias.name.partition(".")[0] for alias in aliases}
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
    return frozenset(found)


def declared(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that this scope declares `global`."""
    return frozenset(name for node in own_nodes(nodes) if isinstance(node, ast.Global) for name in node.names)
