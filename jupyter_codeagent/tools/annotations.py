"""Annotations as Python text that compiles anywhere, whatever is imported there."""

from __future__ import annotations

import ast
import inspect
import types
import typing
from typing import Any

from jupyter_codeagent.tools.object_fields import fields_of
from jupyter_codeagent.types.syntax_trees import expression_tree


def annotation_text(hint: Any) -> str:
    """Return an annotation as text: ``list[str]``, ``Literal['a.b']``, ``DataFrame | None``.

    Records are ``dict``, since code gets dicts.
    """
    if hint is type(None):
        return "None"
    if fields_of(hint) is not None:
        return "dict"
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return annotation_text(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(annotation_text, arguments)))
    if origin in (list, set, frozenset, dict, tuple) and ... not in arguments:
        return f"{origin.__name__}[{', '.join(map(annotation_text, arguments))}]"
    return _with_last_names(hint if isinstance(hint, str) else inspect.formatannotation(hint))


def _with_last_names(text: str) -> str:
    try:
        tree = expression_tree(text.strip())
    except SyntaxError:
        return "object"
    if isinstance(tree.body, ast.Constant) and isinstance(tree.body.value, str):
        return _with_last_names(tree.body.value)
    return ast.unparse(_LastNames().visit(tree))


class _LastNames(ast.NodeTransformer):
    """Shortens ``pandas.core.frame.DataFrame`` to ``DataFrame``; keeps texts, as in ``Literal['a.b']``."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Name(id=node.attr, ctx=ast.Load())
