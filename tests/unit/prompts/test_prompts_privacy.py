"""What goes back to the model where the data may not: no output, and no name that it has not read."""

from __future__ import annotations

from jupyter_codeagent.prompts.observe import (
    concern_without_values,
    hint_without_values,
    observe,
    repair_message,
    without_values,
)
from jupyter_codeagent.values import ExecutionError, ExecutionResult, NamespaceEntry, StreamOutput

KNOWN = "df: DataFrame 3x2\n 'city' str\n 'n' int\nwide = df.pivot(columns='city')\nwide['Citi'] + total"
PRINTED = StreamOutput(output_type="stream", name="stdout", text="Oslo 5")
NAMESPACE = (
    NamespaceEntry(name="df", type_name="DataFrame", columns=("city", "n")),
    NamespaceEntry(name="wide", type_name="DataFrame", columns=("Oslo", "Rome")),
    NamespaceEntry(name="Secretname", type_name="int"),
)


def failed(ename: str, evalue: str, *, source: str = "") -> ExecutionResult:
    error = ExecutionError(ename=ename, evalue=evalue, line=2, source=source)
    return ExecutionResult(status="error", outputs=(PRINTED,), error=error, namespace=NAMESPACE)


def told(ename: str, evalue: str, *, source: str = "") -> str:
    code = "first\nsecond line"
    return observe(without_values(failed(ename, evalue, source=source), KNOWN, code), code)


def test_an_error_is_told_by_kind_and_place_without_its_message() -> None:
    assert told("ValueError", "could not convert 'Oslo'") == "ValueError at line 2: (not told)\n    second line"


def test_a_hint_with_names_that_are_known_is_told() -> None:
    assert hint_without_values(failed("KeyError", "'Citi'"), KNOWN) == "no column 'Citi'; df has 'city'"
    assert told("KeyError", "'Citi'").startswith("KeyError at line 2: (not told) no column 'Citi'")


def test_columns_that_the_code_made_of_values_are_not_told() -> None:
    assert "Oslo" not in hint_without_values(failed("KeyError", "'Citi'", source="wide['Citi']"), KNOWN)
    assert "Oslo" in repair_message(
        failed("KeyError", "'Citi'", source="wide['Citi']"), ""
    )  # where values are told


def test_a_missing_key_that_is_a_value_is_not_told() -> None:
    assert "Vardo" not in told("KeyError", "'Vardo'")
    assert "Vardo" not in told("NameError", "name 'Vardo' is not defined")
    assert "Vardo" not in told("ModuleNotFoundError", "No module named 'Vardo'")


def test_names_of_errors_variables_and_lines_made_of_values_are_not_told() -> None:
    assert told("Vardo", "x").startswith("Error at line 2")
    assert "Secretname" not in told("NameError", "name 'total' is not defined")
    assert "Vardo" not in told("ValueError", "x", source="x = 'Vardo'")
    assert told("OutOfBoundsDatetime", "x").startswith("OutOfBoundsDatetime")


def test_a_doubt_about_the_result_does_not_name_what_was_shown() -> None:
    assert concern_without_values("A function was shown instead of its value (Vardo). Call it.", KNOWN) == (
        "A function was shown instead of its value (it). Call it."
    )
    assert (
        concern_without_values("Every value is missing (NaN). Check.", KNOWN)
        == "Every value is missing (NaN). Check."
    )


def test_what_is_masked_is_masked_in_outputs_errors_and_hints() -> None:
    message = repair_message(failed("KeyError", "'Oslo'"), "x", mask=lambda text: text.replace("Oslo", "***"))
    assert "Oslo" not in message
    assert "*** 5" in message
    assert "KeyError at line 2: '***'" in message


def test_a_value_that_is_cut_at_the_limit_is_masked_before() -> None:
    output = StreamOutput(output_type="stream", name="stdout", text="x" * 95 + " a@b.org " + "y" * 95)
    result = ExecutionResult(status="ok", outputs=(output,))
    assert "a@" not in observe(result, "", max_chars=165, mask=lambda text: text.replace("a@b.org", "***"))
