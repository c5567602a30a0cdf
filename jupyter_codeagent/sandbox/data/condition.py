"""The condition of `--where`: comparisons of columns in the syntax of `DataFrame.query`, for any library.

It is parsed by our own grammar, never by `eval`: no calls, no attributes, no subscripts, no ``@`` variables.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.syntax_trees import expression_tree

MAX_CHARS = 2000
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
ALLOWED = (
    ast.Expression,
    ast.BoolOp,
    ast.And,
    ast.Or,
    ast.UnaryOp,
    ast.Not,
    ast.Invert,
    ast.USub,
    ast.BinOp,
    *ARITHMETIC,
    ast.Compare,
    *COMPARISONS,
    ast.In,
    ast.NotIn,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.List,
    ast.Tuple,
)
TOKEN = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?P<quoted>[^`]+)`|(?P<logical>[&|])""")
PLACEHOLDER = "_quoted_{}_"


class Columns(Protocol):
    """The columns of one frame, as values that support Python's operators."""

    def column(self, name: str) -> Any:
        """Return a column."""
        ...

    def literal(self, value: Any, compared_with: str | None) -> Any:
        """Convert a constant to what this library can compare with that column: text to a date, for instance."""
        ...

    def is_in(self, column: Any, values: list[Any]) -> Any:
        """Return which values of a column are among `values`."""
        ...


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A condition that can be evaluated on any frame that has its columns."""

    text: str
    tree: ast.expr
    quoted: tuple[str, ...] = ()
    """Names that were written in backticks, by the number of their placeholder."""

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that the condition needs, in order."""
        found = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name))
        return tuple(dict.fromkeys(self._name(node) for node in found))

    def evaluate(self, columns: Columns) -> Any:
        """Evaluate the condition with the library's operators: to a mask, or to an expression for one."""
        return self._value(self.tree, columns)

    def _name(self, node: ast.Name) -> str:
        for number, name in enumerate(self.quoted):
            if node.id == PLACEHOLDER.format(number):
                return name
        return node.id

    def _value(self, node: ast.expr, columns: Columns, beside: ast.expr | None = None) -> Any:
        """Evaluate a node; `beside` is the node that it is compared with."""
        match node:
            case ast.Name():
                return columns.column(self._name(node))
            case ast.Constant():
                return columns.literal(node.value, self._name(beside) if isinstance(beside, ast.Name) else None)
            case ast.BoolOp():
                joined = operator.and_ if isinstance(node.op, ast.And) else operator.or_
                return reduce(joined, [self._value(value, columns) for value in node.values])
            case ast.UnaryOp():
                value = self._value(node.operand, columns, beside)
                # Times -1: expressions of Arrow have no unary minus.
                return value * -1 if isinstance(node.op, ast.USub) else ~value
            case ast.BinOp():
                return ARITHMETIC[type(node.op)](self._value(node.left, columns), self._value(node.right, columns))
            case ast.Compare():
                sides = [node.left, *node.comparators]
                return reduce(
                    operator.and_,
                    [
                        self._compare(left, operation, right, columns)
                        for left, operation, right in zip(sides, node.ops, sides[1:], strict=False)
                    ],
                )
        raise UsageError(f"--where {self.text!r}: a list can only follow `in`.")

    def _compare(self, left: ast.expr, operation: ast.cmpop, right: ast.expr, columns: Columns) -> Any:
        if isinstance(operation, ast.In | ast.NotIn):
            if not isinstance(right, ast.List | ast.Tuple):
                raise UsageError(f"--where {self.text!r}: `in` needs a list, such as origin in ['JFK', 'LGA'].")
            values = [self._value(item, columns, left) for item in right.elts]
            found = columns.is_in(self._value(left, columns), values)
            return found if isinstance(operation, ast.In) else ~found
        return COMPARISONS[type(operation)](self._value(left, columns, right), self._value(right, columns, left))


def parse_condition(text: str) -> Condition:
    """Parse a condition; nothing is evaluated.

    Raises
    ------
    UsageError
        If it is not a comparison of columns with values and with each other.
    """
    if len(text) > MAX_CHARS:
        raise UsageError(f"--where has {len(text):,} characters; at most {MAX_CHARS:,} are read.")
    quoted: list[str] = []

    def plain(token: re.Match[str]) -> str:
        if token["logical"]:  # as pandas does: ``a > 1 & b < 2`` means ``and``
            return " and " if token["logical"] == "&" else " or "
        if token["quoted"]:
            quoted.append(token["quoted"])
            return PLACEHOLDER.format(len(quoted) - 1)
        return token[0]

    try:
        tree = expression_tree(TOKEN.sub(plain, text).strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise UsageError(
            f"--where {text!r} cannot be read: write comparisons such as \"dep_delay > 60 and origin == 'JFK'\", "
            "names with spaces in `backticks`."
        ) from problem
    _check(text, list(ast.walk(tree)))
    return Condition(text=text, tree=tree.body, quoted=tuple(quoted))


def _check(text: str, nodes: Sequence[ast.AST]) -> None:
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
            raise UsageError(
                f"--where {text!r}: only columns, values, comparisons and arithmetic are allowed; "
                f"`{ast.unparse(node)[:60]}` would run code."
            )
        if not isinstance(node, ALLOWED):
            raise UsageError(f"--where {text!r}: {type(node).__name__} is not part of a condition.")
        if isinstance(node, ast.Constant) and type(node.value) not in (int, float, str, bool):
            raise UsageError(f"--where {text!r}: compare with numbers, text, True or False, not {node.value!r}.")
        if isinstance(node, ast.Name) and node.id.startswith("__"):
            raise UsageError(f"--where {text!r}: {node.id!r} is not a column name.")
    if not any(isinstance(node, ast.Name) for node in nodes):
        raise UsageError(f"--where {text!r} names no column.")
