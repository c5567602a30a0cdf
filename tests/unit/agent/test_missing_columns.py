"""A conversion that fits none of the texts is seen in the table that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest
from rule_calls import issue_of

from jupyter_codeagent.agent.rules.missing_columns import nothing_converted
from jupyter_codeagent.agent.rules.rule import Issue, Program
from jupyter_codeagent.types.sandbox import ExecutionResult, Output, ResultOutput

CARS = pd.DataFrame({"weight": [f"{number:,} lbs" for number in range(3000, 3080)], "mpg": 7, "n": range(80)})
CONVERTED = "df['weight'] = pd.to_numeric(df['weight'].str.replace(',', ''), errors='coerce')\ndf"


def shown(frame: pd.DataFrame) -> list[Output]:
    data = {"text/html": frame.to_html(max_rows=60), "text/plain": repr(frame)}
    return [ResultOutput(output_type="execute_result", data=data, metadata={}, execution_count=None)]


def converted(weight: Any) -> pd.DataFrame:
    return CARS.assign(weight=weight)


def found(code: str, outputs: Sequence[Output]) -> str:
    answer = nothing_converted(Program(code=code, result=ExecutionResult(status="ok", outputs=tuple(outputs))))
    return answer.text if isinstance(answer, Issue) else ""


def test_a_column_without_a_value_after_its_conversion_is_told() -> None:
    frame = converted(pd.to_numeric(CARS["weight"], errors="coerce"))
    assert "Every value shown of 'weight' is missing" in found(CONVERTED, shown(frame))
    result = ExecutionResult(status="ok", outputs=tuple(shown(frame.set_index("n"))))
    assert "Every value shown of 'weight' is missing" in issue_of(result, CONVERTED)
    assert "'weight'" in found("df.assign(weight=pd.to_numeric(x, errors='coerce'))", shown(frame))


@pytest.mark.parametrize(
    ("code", "frame"),
    [
        (CONVERTED, converted(range(80))),
        (CONVERTED, converted(None).head(2)),
        (CONVERTED.replace("'weight'", "'n'"), converted(None)),
        ("df['weight'] = None\ndf", converted(None)),
        (CONVERTED, converted(None).rename(columns={"weight": "w"})),
    ],
)
def test_a_column_that_has_values_or_was_not_converted_is_none(code: str, frame: pd.DataFrame) -> None:
    assert found(code, shown(frame)) == ""


def test_what_is_no_table_is_passed_over() -> None:
    data = {"text/html": "<table><tr><td>1<td>2</tr></table><td>", "text/plain": "x"}
    output = ResultOutput(output_type="execute_result", data=data, metadata={}, execution_count=None)
    assert found(CONVERTED, [output]) == ""
