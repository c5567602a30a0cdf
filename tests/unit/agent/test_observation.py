"""What the model is told of a run, and which results are told to be wrong."""

from __future__ import annotations

from typing import Any

import pytest
from rule_calls import issue_of

from jupyter_codeagent.agent.output_text import cut
from jupyter_codeagent.agent.prompt.observation import (
    check_message,
    locate_error_in,
    no_code_message,
    observe,
    repair_message,
    without_values,
)
from jupyter_codeagent.types.sandbox import (
    ExecutionError,
    ExecutionResult,
    NamespaceEntry,
    Output,
    ToolCall,
    ToolCallStatus,
)


def stream(text: str, name: Any = "stdout") -> Output:
    return {"output_type": "stream", "name": name, "text": text}


def value(text: str) -> Output:
    return {"output_type": "execute_result", "data": {"text/plain": text}, "metadata": {}, "execution_count": None}


def figure() -> Output:
    data = {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 640x480 with 1 Axes>"}
    return {"output_type": "display_data", "data": data, "metadata": {}}


def ok(*outputs: Output) -> ExecutionResult:
    return ExecutionResult(status="ok", outputs=outputs)


def test_printed_text_values_and_figures_are_told_in_order() -> None:
    assert observe(ok(stream("a\n"), figure(), value("42")), "") == "a\n[figure shown to the user]\n42"


def test_silence_is_told() -> None:
    assert observe(ok(), "") == "(no output)"


def test_colours_progress_lines_and_template_words_are_left_out() -> None:
    text = "\x1b[31mred\x1b[0m\n 10%\r100%\r\n<|im_end|>end"
    assert observe(ok(stream(text)), "") == "red\n100%\nend"


def test_warnings_are_told_once_and_other_stderr_not_at_all() -> None:
    text = "<cell>:1: FutureWarning: old\n  df.x\n<cell>:2: FutureWarning: old\n  df.y\nnoise\n"
    assert observe(ok(stream(text, "stderr")), "") == "FutureWarning: old"


def test_long_output_keeps_its_beginning_and_its_end() -> None:
    text = "\n".join(f"row {index}" for index in range(1000))
    told = observe(ok(stream(text)), "", max_chars=500)
    assert told.startswith("row 0\n")
    assert told.endswith("\nrow 999")
    assert "characters cut; print less]" in told
    assert len(told) < 600


def test_short_output_is_not_cut() -> None:
    assert cut("abc", 3) == "abc"


def test_an_error_is_one_line_with_its_source_and_one_hint() -> None:
    result = ExecutionResult(
        status="error",
        error=ExecutionError(ename="KeyError", evalue="'Revenu'", line=2),
        namespace=(NamespaceEntry(name="df", type_name="DataFrame", columns=("Revenue", "Cost")),),
    )
    assert observe(result, "x = 1\nx = df['Revenu']") == (
        "KeyError at line 2: 'Revenu'\n    x = df['Revenu']\nHint: no column 'Revenu'; df has 'Revenue'"
    )
    assert "whole corrected program" in repair_message(result, "").text


@pytest.mark.parametrize(
    ("told", "line"),
    [("x = 1\nx = df['Revenu']", 2), ("y = 2", None), ("x = df['Revenu']\nx = df['Revenu']", None)],
)
def test_an_error_is_told_with_its_line_in_the_program_as_the_model_wrote_it(told: str, line: int | None) -> None:
    error = ExecutionError(ename="KeyError", evalue="'Revenu'", line=3)
    ran = "import pandas as pd\nx = 1\nx = df['Revenu']"
    found = locate_error_in(told, ExecutionResult(status="error", error=error), ran).error
    assert found is not None
    assert (found.line, found.source) == (line, "x = df['Revenu']")


def test_what_a_program_called_before_it_failed_is_told_and_that_it_is_not_made_twice() -> None:
    def call(text: str, status: ToolCallStatus = "ok") -> ToolCall:
        return ToolCall(tool="get", call=text, status=status)

    error = ExecutionError(ename="KeyError", evalue="'a'")
    result = ExecutionResult(
        status="error",
        error=error,
        calls=(call("get(1)"), call("get(1)"), call("get(2)"), call("get(3)", "denied")),
    )
    told = repair_message(result, "x", mask=lambda text: text.replace("2", "***")).text
    assert "Calls done: get(1), get(***). They are not made twice" in told
    many = ExecutionResult(status="error", error=error, calls=tuple(call(f"get({n})") for n in range(9)))
    assert "get(4) and 4 more" in repair_message(many, "x").text
    assert "get" not in repair_message(without_values(result, "x", "x"), "x").text, (
        "an argument may be a value of the data"
    )


def test_a_limit_is_told_with_what_to_do() -> None:
    timeout = ExecutionResult(status="timeout", reason="no end after 120 s", outputs=(stream("partial"),))
    assert observe(timeout, "").startswith("partial\nStopped: no end after 120 s.")
    killed = ExecutionResult(status="killed", reason="memory 2 GiB")
    assert "memory 2 GiB" in observe(killed, "")


def test_a_reply_without_code_is_told_why() -> None:
    assert no_code_message("no code in the reply").text.startswith("no code in the reply. Reply with exactly one")


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (value("<bound method DataFrame.head of    a\n0  1>"), "A function was shown instead of its value"),
        (value("<function f at 0x7f>"), "A function was shown"),
        (value("<pandas.core.groupby.generic.DataFrameGroupBy object at 0x7f>"), "A GroupBy object was shown"),
        (value("<generator object <genexpr> at 0x7f>"), "A generator object was shown"),
        (value("r0 := DatabaseTable: {t}\n  km int64\n\nMax(km): Max(r0.km)"), "An expression of Ibis was shown"),
        (value("DatabaseTable: {t}\n  km int64"), "An expression of Ibis was shown"),
        (value("Empty DataFrame\nColumns: [a]\nIndex: []"), "The result is empty"),
        (value("Series([], dtype: int64)"), "The result is empty"),
        (stream("[]\n"), "The result is empty"),
        (stream("nan\n"), "Every value is missing"),
        (value("carrier\nAA   NaN\nUA   NaN\nName: delay, dtype: float64"), "Every value is missing"),
        (stream("Mean before: 42.7\nMean after: nan\n"), "'Mean after' is nan"),
    ],
)
def test_a_result_that_cannot_be_meant_is_noticed(output: Output, line: str) -> None:
    assert line in issue_of(ok(output), "x")


@pytest.mark.parametrize(
    "outputs",
    [
        (value("carrier\nAA   NaN\nUA   1.5\nName: delay, dtype: float64"),),
        (value("42"),),
        (stream("The banana is NaN in 3 rows\n"),),
        (stream("mean: 3\n2013-01: nan\n"),),
        (figure(),),
        (stream("[1]\n"),),
        (value("   a  b\n0  1  2"),),
    ],
)
def test_an_ordinary_result_passes(outputs: tuple[Output, ...]) -> None:
    assert issue_of(ok(*outputs), "x") == ""


def test_what_the_reply_is_begun_with_is_not_said_before_it_as_well() -> None:
    error = ExecutionError(ename="KeyError", evalue="'Revenu'", line=1, source="x = df['Revenu']")
    entry = NamespaceEntry(name="df", type_name="DataFrame", columns=("Revenue",))
    failed = ExecutionResult(status="error", error=error, namespace=(entry,))
    assert "Hint: " in repair_message(failed, "x").text
    assert "Hint: " not in repair_message(failed, "x", hinted=True).text
    assert "It is empty." in check_message(ok(stream("[]")), "x", "It is empty.").text
    assert check_message(ok(stream("[]")), "x", "It is empty.", hinted=True).text.startswith(
        "[]\n\nThe result looks wrong.\n"
    )


def test_showing_nothing_is_noticed() -> None:
    assert "Nothing was shown" in issue_of(ok(), "x = 1")


def test_a_failed_run_is_no_matter_of_checks() -> None:
    assert issue_of(ExecutionResult(status="error"), "x") == ""
