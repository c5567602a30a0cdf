"""Put hooks around the calls, selections and comparisons of a cell's syntax tree; its values stay what they are.

``df.merge(other, on="k").head(3)`` becomes ``result(1, receiver(1, result(0, receiver(0, df).merge(argument(0, 0,
other), on="k"))).head(3))``, where each hook returns the value that it is given. Every node keeps its position, so
tracebacks and warnings name the lines that they would name without hooks.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

HOOKS = "__codeagent__"
"""Name in `builtins` of the object that has the hooks."""
MAX_SITES = 300
MAX_DETAIL_CHARS = 120
INDEXERS = frozenset({"loc", "iloc"})
UNHOOKED = frozenset({"loc", "iloc", "at", "iat", "shape", "columns", "index", "dtypes", "T"})
"""Attributes of frames that are no columns, and lead to none."""
COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.BitAnd: "&",
    ast.BitOr: "|",
}
"""Of columns, those that are told apart."""
SUBSCRIPT = "[]"
STORE = "[]="
ATTRIBUTE = "."
ARITHMETIC = "+"


@dataclass
class Site:
    """One place of the program that is observed."""

    name: str
    """Method, comparison operator, `SUBSCRIPT` or `STORE`."""
    detail: str
    """Source of its arguments, of the key, or of both sides of a comparison."""
    line: int
    """Line of the cell as IPython compiles it, from 1."""
    constants: dict[int | str, Any] = field(default_factory=dict)
    """Arguments that stand in the source as constants, by position or keyword."""
    all_known: bool = True
    """Whether no argument is unpacked (``*args``)."""


class HookInserter(ast.NodeTransformer):
    """Inserts hooks into one tree, and lists their `sites`."""

    def __init__(self, methods: Collection[str]) -> None:
        """Take the `methods` that are counted: in loops and functions, which may run often, no other is hooked."""
        self.sites: list[Site] = []
        self._methods = methods
        self._loops = self._masks = 0

    # What runs once for each element or is no program of its own stays as it is.
    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda  # type: ignore[assignment]
    visit_ClassDef = visit_Delete = visit_Lambda  # type: ignore[assignment]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._loops += 1  # it may be called for each row
        node.body = [self.visit(statement) for statement in node.body]
        self._loops -= 1
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_For(self, node: ast.For) -> ast.AST:
        node.iter = self.visit(node.iter)
        return self._loop(node)

    visit_AsyncFor = visit_For  # type: ignore[assignment]

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> ast.AST:
        self._loops += 1
        if isinstance(node, ast.While):
            node.test = self.visit(node.test)
        node.body = [self.visit(statement) for statement in node.body]
        self._loops -= 1
        node.orelse = [self.visit(statement) for statement in node.orelse]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        node.value = self.visit(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        site = self._store_site(node.targets[0]) if len(node.targets) == 1 else None
        node.value = self.visit(node.value)
        if site is not None and self._has_room():
            target = node.targets[0]
            assert isinstance(target, ast.Subscript)
            base = target.value.value if isinstance(target.value, ast.Attribute) else target.value
            assert isinstance(base, ast.Name)
            frame = ast.copy_location(ast.Name(base.id, ast.Load()), base)
            node.value = self._hook("stored", self._add(site), node.value, frame)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        func = node.func
        if any(keyword.arg == "inplace" for keyword in node.keywords):
            return node  # what holds the receiver would change pandas' mind about who else may see the change
        if not isinstance(func, ast.Attribute) or (self._loops and func.attr not in self._methods):
            return self.generic_visit(node)
        site = Site(func.attr, _arguments_text(node), func.end_lineno or func.lineno)
        func.value = self.visit(func.value)
        node.args = [self.visit(argument) for argument in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        if not self._has_room():
            return node
        number = self._add(site)
        func.value = self._hook("receiver", number, func.value)
        for position, argument in enumerate(node.args):
            node.args[position] = self._argument(number, position, argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                site.all_known = False
            else:
                keyword.value = self._argument(number, keyword.arg, keyword.value)
        return self._hook("result", number, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if not isinstance(node.ctx, ast.Load):
            return node
        site = Site(SUBSCRIPT, _text(node.slice), node.lineno)
        is_mask = isinstance(node.slice, ast.Compare | ast.BinOp | ast.UnaryOp | ast.Call | ast.Tuple)
        self._masks += is_mask
        self.generic_visit(node)
        self._masks -= is_mask
        if not self._has_room() or (self._loops and not is_mask):
            return node
        number = self._add(site)
        node.value = self._hook("receiver", number, node.value)
        if isinstance(node.slice, ast.Tuple):  # a tuple that has a slice is no value of its own
            node.slice.elts = [self._argument(number, at, part) for at, part in enumerate(node.slice.elts)]
        else:
            node.slice = self._argument(number, 0, node.slice)
        return self._hook("result", number, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Put a hook around ``df.column``; which attribute is a column is known when it runs."""
        site = Site(ATTRIBUTE, node.attr, node.end_lineno or node.lineno)
        self.generic_visit(node)
        is_hooked = isinstance(node.ctx, ast.Load) and node.attr not in UNHOOKED and not self._loops
        if not is_hooked or not self._has_room():
            return node
        number = self._add(site)
        node.value = self._hook("receiver", number, node.value)
        return self._hook("result", number, node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        site = Site(ARITHMETIC, OPERATORS.get(type(node.op), ""), node.lineno)
        constant = isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant)
        self.generic_visit(node)
        if constant or self._loops or not self._has_room():
            return node
        number = self._add(site)
        node.left = self._hook("receiver", number, node.left)
        node.right = self._argument(number, 0, node.right)
        return self._hook("result", number, node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        operator = COMPARISONS.get(type(node.ops[0]))
        site = Site(operator, _text(node), node.lineno) if operator and len(node.ops) == 1 else None
        self.generic_visit(node)
        if site is None or not self._has_room() or (self._loops and not self._masks):
            return node
        number = self._add(site)
        node.left = self._hook("receiver", number, node.left)
        node.comparators[0] = self._argument(number, 0, node.comparators[0])
        return self._hook("result", number, node)

    def _has_room(self) -> bool:
        return len(self.sites) < MAX_SITES

    def _add(self, site: Site) -> int:
        self.sites.append(site)
        return len(self.sites) - 1

    def _argument(self, number: int, key: int | str, node: ast.expr) -> ast.expr:
        site = self.sites[number]
        if isinstance(node, ast.Starred | ast.Slice):
            site.all_known = False
            return node
        try:
            site.constants[key] = ast.literal_eval(node)
        except (ValueError, TypeError):
            return self._hook("argument", number, node, ast.Constant(key))
        return node

    def _hook(self, hook: str, number: int, value: ast.expr, *more: ast.expr) -> ast.expr:
        hooks = ast.Name(HOOKS, ast.Load())
        called = ast.Attribute(hooks, hook, ast.Load())
        place = ast.Constant(number)
        call = ast.Call(called, [place, value, *more], [])
        for node in (hooks, called, place, call, *more):
            if not hasattr(node, "lineno"):
                ast.copy_location(node, value)
        return call

    def _store_site(self, target: ast.expr) -> Site | None:
        """Return the site of ``df["x"] = …`` or ``df.loc[…] = …``, where `df` is a name."""
        if not isinstance(target, ast.Subscript):
            return None
        base = target.value
        is_part = False
        if isinstance(base, ast.Attribute) and base.attr in INDEXERS:
            rows = target.slice.elts[0] if isinstance(target.slice, ast.Tuple) and target.slice.elts else None
            is_part = not (isinstance(rows, ast.Slice) and rows.lower is None and rows.upper is None)
            key = target.slice.elts[-1] if isinstance(target.slice, ast.Tuple) and target.slice.elts else None
            base = base.value
        else:
            key = target.slice
        if not isinstance(base, ast.Name) or not isinstance(key, ast.Constant | ast.List):
            return None
        try:
            labels = ast.literal_eval(key)
        except ValueError:
            return None
        return Site(STORE, _text(target.slice), target.lineno, {0: labels, "is_part": is_part})


def _arguments_text(node: ast.Call) -> str:
    parts = [_text(argument) for argument in node.args]
    parts += [f"{keyword.arg}={_text(keyword.value)}" for keyword in node.keywords if keyword.arg]
    return ", ".join(parts)[:MAX_DETAIL_CHARS]


def _text(node: ast.expr) -> str:
    return " ".join(ast.unparse(node).split())[:MAX_DETAIL_CHARS]
