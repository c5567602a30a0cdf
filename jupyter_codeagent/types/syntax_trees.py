"""Syntax trees of Python code, in a kernel whose threads parse at the same time.

CPython counts the depth of all trees that are being made in one place. Where a thread takes over while another one
makes a tree (a finalizer ran), `ast.parse` fails with a SystemError that says nothing about the code:
*AST constructor recursion depth mismatch* (python/cpython#106905). The same code is parsed again then.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

ATTEMPTS = 3
Tree = TypeVar("Tree")


def module_tree(code: str) -> ast.Module:
    """Parse statements; raise what `ast.parse` raises about them."""
    return _undisturbed(lambda: ast.parse(code))


def expression_tree(text: str) -> ast.Expression:
    """Parse an expression; raise what `ast.parse` raises about it."""
    return _undisturbed(lambda: ast.parse(text, mode="eval"))


def _undisturbed(parse: Callable[[], Tree]) -> Tree:
    for _ in range(ATTEMPTS - 1):
        with suppress(SystemError):
            return parse()
    return parse()
