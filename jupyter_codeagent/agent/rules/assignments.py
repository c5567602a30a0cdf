"""Assignments that have no effect, and comparisons that Python groups differently from how they read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jupyter_codeagent.agent.rules.rule import Program, from_edits
from jupyter_codeagent.agent.source import Edit, column_of, span, text_of

_IN_PLACE = frozenset({"fillna", "replace", "interpolate", "clip", "ffill", "bfill", "mask", "where", "round"})


@from_edits
def assign_back(program: Program) -> list[tuple[Edit, str]]:
    """Assign ``df["x"].fillna(0, inplace=True)`` to the column, as it fills a copy since pandas 3."""
    tree, code = program.tree, program.code
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=column, attr=name), keywords=keywords) as call
            ) if name in _IN_PLACE and column_of(column) is not None and isinstance(column, ast.Subscript):
                if not any(_is_in_place(word) for word in keywords):
                    continue
                text = text_of(code, column)
                kept = [text_of(code, argument) for argument in call.args]
                kept += [_written(code, word) for word in keywords if word.arg != "inplace"]
                start, end = span(code, call)
                made = f"{text} = {text}.{name}({', '.join(kept)})"
                found.append(
                    (
                        Edit(start=start, end=end, text=made),
                        f"replaced `{name}(inplace=True)` on a column by an assignment",
                    )
                )
    return found


def _is_in_place(word: ast.keyword) -> bool:
    return word.arg == "inplace" and isinstance(word.value, ast.Constant) and word.value.value is True


def _written(code: str, word: ast.keyword) -> str:
    text = text_of(code, word.value)
    return f"**{text}" if word.arg is None else f"{word.arg}={text}"


@from_edits
def bind_comparisons(program: Program) -> list[tuple[Edit, str]]:
    """Put parentheses around the comparisons of ``df["a"] > 1 & df["b"] < 3``, because ``&`` binds closer."""
    tree, code = program.tree, program.code
    return [
        (edit, "added parentheses around comparisons joined by & and |")
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for edit in _bound(code, node)
    ]


def _bound(code: str, chain: ast.Compare) -> Iterator[Edit]:
    """Yield the brackets for ``a > 1 & b < 3``, which Python reads as ``a > (1 & b) < 3``.

    Around each ``&`` there are parts of two comparisons.
    """
    operands = [chain.left, *chain.comparators]
    joined = [operand for operand in operands if _is_join(operand)]
    last = len(operands) - 1
    if not joined or not all(
        (_is_value(one.left) or (at == 0 and _is_mask(one.left)))
        and (_is_value(one.right) or (at == last and _is_mask(one.right)))
        for at, one in enumerate(operands)
        if isinstance(one, ast.BinOp) and _is_join(one)
    ):
        return
    if operands[0] not in joined:
        yield _put("(", span(code, chain)[0])
    for operand in joined:
        assert isinstance(operand, ast.BinOp)
        if not _is_mask(operand.left):
            yield _put(")", span(code, operand.left)[1])
        if not _is_mask(operand.right):
            yield _put("(", span(code, operand.right)[0])
    if operands[-1] not in joined:
        yield _put(")", span(code, chain)[1])


def _put(text: str, at: int) -> Edit:
    return Edit(start=at, end=at, text=text)


def _is_join(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr)


def _is_value(node: ast.expr) -> bool:
    """Check for a constant or a column: nobody wants the bits of it."""
    return isinstance(node, ast.Constant) or column_of(node) is not None


def _is_mask(node: ast.expr) -> bool:
    inverted = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)
    return inverted or isinstance(node, ast.Compare | ast.Call)
