"""Syntax trees where another thread disturbs their making."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from jupyter_codeagent.types.syntax_trees import ATTEMPTS, expression_tree, module_tree

MISMATCH = "AST constructor recursion depth mismatch (before=42, after=83)"


def disturbed(monkeypatch: pytest.MonkeyPatch, times: int) -> list[str]:
    """The codes that are given to `ast.parse`, which fails so often first."""
    given: list[str] = []
    parse = ast.parse

    def fail(code: str, **options: Any) -> ast.AST:
        given.append(code)
        if len(given) <= times:
            raise SystemError(MISMATCH)
        tree: ast.AST = parse(code, **options)
        return tree

    monkeypatch.setattr(ast, "parse", fail)
    return given


def test_code_is_parsed_again_where_another_thread_disturbed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given = disturbed(monkeypatch, ATTEMPTS - 1)
    assert len(module_tree("x = 1").body) == 1
    assert given == ["x = 1"] * ATTEMPTS
    given.clear()
    assert isinstance(expression_tree("a + 1").body, ast.BinOp)


def test_what_is_wrong_with_the_code_is_said_at_once_and_a_lasting_failure_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = disturbed(monkeypatch, ATTEMPTS)
    with pytest.raises(SystemError, match="recursion depth mismatch"):
        module_tree("x = 1")
    with pytest.raises(SyntaxError):
        module_tree("x = (")
    assert given == ["x = 1"] * ATTEMPTS + ["x = ("]
