"""What is said of tools to the model and to the user."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jupyter_codeagent.models.tokens import estimate_tokens
from jupyter_codeagent.tools.prompt_lines import (
    HEADING,
    MAX_LINES,
    MAX_TOKENS,
    calls_note,
    functions_text,
    queries_note,
    with_tools,
    without_tools,
)
from jupyter_codeagent.tools.registry import agent_tool
from jupyter_codeagent.tools.tool import tool_of
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.sandbox import ToolCall
from jupyter_codeagent.types.variables import CopiedVariable, Manifest, ToolPolicy, ToolStub


def read(x: int) -> int:
    """Read it."""
    return x


def tools(*names: str, policy: ToolPolicy = "auto") -> dict[str, Any]:
    return {name: tool_of(read, name=name, policy=policy) for name in names}


def test_functions_are_told_a_line_each_and_denied_ones_not_at_all() -> None:
    manifest = with_tools(Manifest(), tools("a") | tools("b", policy="deny"))
    assert functions_text(manifest.tools) == f"{HEADING}\ndef a(x: int) -> int  # Read it."
    assert functions_text(with_tools(Manifest(), {}).tools) == ""


def test_docstrings_are_told_whole_then_by_paragraph_then_by_sentence() -> None:
    def find(x: int) -> int:
        """Find it. Slowly, as far as that is possible with the means at hand.

        Args:
            x: where to begin, from 1 to 9; further on is all that lies behind it, in the same order
        """
        return x

    def told(count: int) -> str:
        stubs = with_tools(Manifest(), {f"f{n}": tool_of(find, name=f"f{n}") for n in range(count)}).tools
        text = functions_text(stubs)
        assert text.count("def ") == count
        return text.splitlines()[1]

    all_of_it, paragraph, sentence = told(1), told(12), told(18)
    assert all_of_it.endswith(
        "Args: x: where to begin, from 1 to 9; further on is all that lies behind it, in the same order"
    )
    assert (
        paragraph == "def f0(x: int) -> int  # Find it. Slowly, as far as that is possible with the means at hand."
    )
    assert sentence == "def f0(x: int) -> int  # Find it."


def test_of_many_functions_the_first_are_told_and_how_the_others_are_found() -> None:
    many = functions_text(with_tools(Manifest(), tools(*(f"tool{n}" for n in range(50)))).tools)
    assert many.count("def ") == MAX_LINES
    assert many.endswith(f"# and {50 - MAX_LINES} more: print(tools.search('words')) lists those that match")
    words = "_".join(f"w{n}" for n in range(60))
    wide = {f"tool{n}": tool_of(read, name=f"tool{n}_{words}") for n in range(15)}
    text = functions_text(with_tools(Manifest(), wide).tools)
    assert "more: print" in text
    assert estimate_tokens(text) < MAX_TOKENS + 40


def test_a_variable_for_the_sandbox_with_the_name_of_a_tool_is_refused() -> None:
    manifest = Manifest(copied=(CopiedVariable(name="read", type_name="int", size_bytes=1),))
    with pytest.raises(UsageError, match="'read' is a variable for the sandbox and a function"):
        with_tools(manifest, tools("read"))


def test_functions_that_are_told_as_such_are_not_told_as_variables_too() -> None:
    variables = {"read": read, "agent_tool": agent_tool, "alias": read, "x": 1}
    assert without_tools(variables, tools("read")) == {"x": 1}
    assert without_tools(variables, {}) == variables


def test_the_user_is_told_how_often_each_was_called() -> None:
    def call(tool: str, status: Any = "ok") -> ToolCall:
        return ToolCall(tool=tool, call=f"{tool}()", status=status)

    assert calls_note([call("a"), call("a"), call("b", "denied")]) == "called a 2 times, b once (denied)"
    assert calls_note([]) == ""
    assert calls_note([replace(call("a"), earlier=True), call("b")]) == "called b once", "of a replay"


def test_the_receipt_says_how_many_rows_a_database_has_read_where_it_tells() -> None:
    def query(result: str, **more: Any) -> ToolCall:
        return ToolCall(
            tool="db", call="db('SELECT …')", status="ok", kind="duckdb", result=result, duration_s=0.14, **more
        )

    stubs = [ToolStub(name="db", signature="", doc="", kind="duckdb")]
    told = [query("DataFrame 16x2, 336,776 rows scanned"), query("DataFrame 1x1, 1,458 rows scanned")]
    assert queries_note(stubs, told) == "asked db: 2 queries, 338,234 rows scanned in 0.3 s, 17 returned"
    assert queries_note(stubs, [query("DataFrame 1x2")]) == "asked db: 1 query, 1 row in 0.1 s"
    assert queries_note(stubs, [query("DataFrame 1x2", earlier=True)]) == "", "of a replay"
