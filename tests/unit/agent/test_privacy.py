"""What goes back to the model where the data may not: no output, and no name that it has not read."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas
import polars
import pytest

from jupyter_codeagent.agent.prompt.observation import (
    hint_without_values,
    issue_without_values,
    observe,
    repair_message,
    without_values,
)
from jupyter_codeagent.types.sandbox import ExecutionError, ExecutionResult, NamespaceEntry, StreamOutput

assert pandas is not None, "their errors are known where they are loaded"
assert polars is not None
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
    whole = repair_message(failed("KeyError", "'Citi'", source="wide['Citi']"), "")
    assert "Oslo" in whole.text  # where values are told


def test_a_missing_key_that_is_a_value_is_not_told() -> None:
    assert "Vardo" not in told("KeyError", "'Vardo'")
    assert "Vardo" not in told("NameError", "name 'Vardo' is not defined")
    assert "Vardo" not in told("ModuleNotFoundError", "No module named 'Vardo'")


def test_names_of_errors_variables_and_lines_made_of_values_are_not_told() -> None:
    assert told("Vardo", "x").startswith("Error at line 2")
    assert "Secretname" not in told("NameError", "name 'total' is not defined")
    assert "Vardo" not in told("ValueError", "x", source="x = 'Vardo'")
    assert told("OutOfBoundsDatetime", "x").startswith("OutOfBoundsDatetime")


@pytest.mark.parametrize(
    "ename",
    ["Vardo", "VardoError", "VardoWarning", "city", "Exception" * 5, "UndefinedVariableErrors", "Zora Quill"],
)
def test_an_error_is_called_by_its_name_only_where_python_or_a_library_has_it(ename: str) -> None:
    """Code gives its errors any names, up to 40 characters of a value at a time."""
    assert told(ename, "x").startswith("Error at line 2")


def test_errors_of_python_and_of_libraries_are_called_by_their_names() -> None:
    for ename in ("ZeroDivisionError", "JSONDecodeError", "MergeError", "LinAlgError", "ComputeError"):
        assert told(ename, "x").startswith(f"{ename} at line 2")


def test_a_line_that_the_program_does_not_have_is_not_told() -> None:
    """`exec` of a compiled text can fail in any line, such as that of a salary."""
    for line, shown in ((714231, "ValueError: "), (0, "ValueError: "), (2, "ValueError at line 2: ")):
        error = ExecutionError(ename="ValueError", evalue="x", line=line)
        result = ExecutionResult(status="error", error=error)
        assert observe(without_values(result, KNOWN, "a\nb"), "a\nb").startswith(shown)


@pytest.mark.parametrize(
    ("ename", "evalue"),
    [
        ("ValueError", "You are trying to merge on Vardo and Zora columns for key 'city'"),
        ("NameError", "name 'cities' is not defined"),
        ("KeyError", "'Oslo'"),
        ("AttributeError", "'DataFrame' object has no attribute 'Vardo'"),
        ("ValueError", "could not convert string to float: '12 Vardo'"),
        ("MemoryError", "Vardo"),
    ],
)
def test_no_word_of_a_message_or_of_what_code_has_made_stands_in_a_hint(ename: str, evalue: str) -> None:
    made = NamespaceEntry(name="cit", type_name="DataFrame", columns=("Vardo", "Osl", "Zora"))
    result = failed(ename, evalue, source="Vardo.merge(Zora)")
    result = replace(result, namespace=(*result.namespace, made))
    assert not {"Vardo", "Zora", "Oslo", "Osl"} & set(re.findall(r"\w+", hint_without_values(result, KNOWN)))


def test_a_part_of_a_known_word_is_not_known() -> None:
    """`Ann` stands in `Annual`."""
    made = NamespaceEntry(name="df", type_name="DataFrame", columns=("Ann", "Annual"))
    result = replace(failed("KeyError", "'Annua'"), namespace=(made,))
    assert hint_without_values(result, "df Annual Annua") == "no column 'Annua'; df has 'Annual'"


@pytest.mark.parametrize(
    "concern",
    [
        "'Vardo' is nan: it was computed of no rows, or of missing values.",
        "The task asks which city, and the result does not name it: show Vardo['Zora'] with it.",
        "A correlation of 714231.5 was printed, but it is one at the most. Check the calculation.",
        "Vardo is made and never used. Compute the result from it, or leave it out.",
    ],
)
def test_no_name_and_no_figure_of_what_was_shown_stands_in_a_doubt(concern: str) -> None:
    said = issue_without_values(concern, KNOWN)
    assert not [word for word in ("Vardo", "Zora", "714231") if word in said]
    assert len(said) > 20


def test_a_doubt_about_the_result_does_not_name_what_was_shown() -> None:
    assert issue_without_values("A function was shown instead of its value (Vardo). Call it.", KNOWN) == (
        "A function was shown instead of its value (it). Call it."
    )
    assert (
        issue_without_values("Every value is missing (NaN). Check.", KNOWN)
        == "Every value is missing (NaN). Check."
    )


def test_what_is_masked_is_masked_in_outputs_errors_and_hints() -> None:
    message = repair_message(failed("KeyError", "'Oslo'"), "x", mask=lambda text: text.replace("Oslo", "***")).text
    assert "Oslo" not in message
    assert "*** 5" in message
    assert "KeyError at line 2: '***'" in message


def test_a_value_that_is_cut_at_the_limit_is_masked_before() -> None:
    output = StreamOutput(output_type="stream", name="stdout", text="x" * 95 + " a@b.org " + "y" * 95)
    result = ExecutionResult(status="ok", outputs=(output,))
    assert "a@" not in observe(result, "", max_chars=165, mask=lambda text: text.replace("a@b.org", "***"))
