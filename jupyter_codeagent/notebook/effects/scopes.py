"""Which names belong to which scope of a piece of code, and what they may stand for there."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

PARAMETER = "\0"
"""Stands before the name of a parameter among the roots: what is changed through it is the caller's."""


@dataclass
class NameBindings:
    """What is known of names at one place of the code, in one scope."""

    own: set[str]
    """Stand for what the code itself has made, surely."""
    aliases: dict[str, frozenset[str]]
    """Name -> names of outside that it may stand for, or for a part of."""
    direct: set[str]
    """Of `aliases`: stand for the whole, not for a part."""

    def copy(self) -> NameBindings:
        return NameBindings(set(self.own), dict(self.aliases), set(self.direct))

    def merge(self, other: NameBindings) -> NameBindings:
        """After a branch: this or that."""
        names = self.aliases.keys() | other.aliases.keys()
        empty: frozenset[str] = frozenset()
        aliases = {n: self.aliases.get(n, empty) | other.aliases.get(n, empty) for n in names}
        return NameBindings(self.own & other.own, aliases, self.direct | other.direct)


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    rest = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def own_nodes(nodes: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """All nodes of this scope; of the scopes inside it only what they bind out here."""
    for node in nodes:
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            yield from (inner for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
            continue
        yield from own_nodes(ast.iter_child_nodes(node))


def bound(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Names that this scope binds."""
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
    """Names that this scope declares `global`."""
    return frozenset(name for node in own_nodes(nodes) if isinstance(node, ast.Global) for name in node.names)
