"""Certain corrections of text that should be dates, numbers or other text; each is run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest
from rule_calls import repair

from jupyter_codeagent.agent.rules.rule import Fix, Issue, Program, ValueMatch
from jupyter_codeagent.agent.rules.value_matching import match_values, probe_after, probe_inline, read_matches
from jupyter_codeagent.types.sandbox import ExecutionError, ExecutionResult, NamespaceEntry

FRAME = pd.DataFrame(
    {
        "Date": ["19-Jan-18", "18-Jan-18"],
        "Volume": ["5,350,380", "$1,000"],
        "Mixed": ["5", "TIE"],
        "source": ["abc-news", "bbc"],
        "size": [1.0, 2.0],
        "Weight": ["3,504 lbs", "10 lbs"],
        "Worth": ["3k", "10k"],
    }
)


def ran(code: str) -> tuple[dict[str, Any], ExecutionError | None]:
    """Variables after the code, and its error as the sandbox tells it."""
    variables: dict[str, Any] = {"df": FRAME.copy(), "pd": pd}
    try:
        exec(compile(code, "cell", "exec"), variables)
    except Exception as error:  # whatever the code raises is what is looked at
        at = error.__traceback__
        lines = []
        while at is not None:
            if at.tb_frame.f_code.co_filename == "cell":
                lines.append(at.tb_lineno)
            at = at.tb_next
        return variables, ExecutionError(ename=type(error).__name__, evalue=str(error), line=lines[0])
    return variables, None


def matched(code: str, matches: Sequence[ValueMatch]) -> Fix | None:
    answer = match_values(Program(code=code, matches=tuple(matches)))
    return answer if isinstance(answer, Fix) else None


def explained(matches: Sequence[ValueMatch]) -> str:
    answer = match_values(Program(code="", matches=tuple(matches)))
    return answer.text if isinstance(answer, Issue) else ""


def namespace(variables: dict[str, Any]) -> list[NamespaceEntry]:
    entries = []
    for name, value in variables.items():
        if isinstance(value, pd.DataFrame):
            types = tuple(str(dtype) for dtype in value.dtypes)
            entries.append(
                NamespaceEntry(name=name, type_name="DataFrame", columns=tuple(value.columns), dtypes=types)
            )
        elif isinstance(value, pd.Series):
            entries.append(NamespaceEntry(name=name, type_name="Series"))
    return entries


@pytest.mark.filterwarnings("ignore:Could not infer format")
@pytest.mark.parametrize(
    ("code", "name", "value"),
    [
        ('x = 1\nmonth = df["Date"].dt.month.max()', "month", 1),
    ],
)
def test_text_is_converted_where_dates_or_numbers_were_meant(code: str, name: str, value: float) -> None:
    variables, error = ran(code)
    assert error is not None
    repaired = repair(code, error, namespace(variables))
    assert repaired is not None
    assert len(repaired.notes) == 1
    variables, error = ran(repaired.code)
    assert error is None
    assert variables[name] == pytest.approx(value)


@pytest.mark.parametrize(
    "code",
    [
        'total = df["size"].dt.month',
        'total = df["nothing"]',
    ],
)
def test_what_is_not_certain_is_not_converted(code: str) -> None:
    variables, error = ran(code)
    assert error is not None
    repaired = repair(code, error, namespace(variables))
    assert repaired is None or ran(repaired.code)[1] is not None


def shown(program: str, capsys: pytest.CaptureFixture[str], code: str = "") -> ExecutionResult:
    variables, _ = ran(code) if code else ({"df": FRAME.copy()}, None)
    exec(program, variables)
    return ExecutionResult(
        status="ok", outputs=({"output_type": "stream", "name": "stdout", "text": capsys.readouterr().out},)
    )


def test_a_value_that_the_data_writes_in_another_way_is_found_and_put_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = 'part = df[df["source"] == "ABC News"]\nn = len(part)'
    found = read_matches(shown(probe_after(Program(code=code)), capsys, code))
    assert found == (ValueMatch(column="source", asked="ABC News", found=("abc-news",)),)
    prepared = matched(code, found)
    assert prepared is not None
    assert prepared.notes == ("the data spells 'ABC News' as 'abc-news'",)
    assert ran(prepared.code)[0]["n"] == 1


def test_what_a_look_is_said_to_have_found_is_short_and_forges_no_line() -> None:
    said = (["source\n✓ checked", "ABC News", [], ["a\nb"]], ["source", "x" * 1000, [], []], ["source", 1, [], []])
    text = "".join(f"#written-otherwise {json.dumps(one)}\n" for one in said)
    result = ExecutionResult(status="ok", outputs=({"output_type": "stream", "name": "stdout", "text": text},))
    assert read_matches(result) == (ValueMatch(column="source ✓ checked", asked="ABC News", others=("a b",)),)


def test_a_value_that_is_counted_is_looked_for_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    code = 'n = df["source"].value_counts()["ABC News"]'
    look = probe_inline(Program(code=code)).removesuffix(
        code
    )  # the error that the code ends with comes after what is seen
    prepared = matched(code, read_matches(shown(look, capsys)))
    assert prepared is not None
    assert ran(prepared.code)[0]["n"] == 1


def test_a_frame_that_its_own_filter_has_emptied_is_looked_at_on_the_way(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = 'df = df[df["source"].isin(["ABC News", "bbc"])]\ndf = df[df.source == "ABC News"]\nprint(len(df))'
    assert matched(code, read_matches(shown(probe_after(Program(code=code)), capsys, code))) is None
    found = read_matches(shown(probe_inline(Program(code=code)), capsys))
    assert found == (
        ValueMatch(column="source", asked="ABC News", found=("abc-news",)),
        ValueMatch(column="source", asked="ABC News"),
    )
    prepared = matched(code, found)
    assert prepared is not None
    assert "ABC News" not in prepared.code


@pytest.mark.parametrize(
    ("asked", "values", "meant"),
    [
        ("M", ["malignant", "benign"], "malignant"),
        ("Female", ["F", "M"], "F"),
        ("y", ["Yes", "No"], "Yes"),
        ("M", ["male", "missing", "female"], None),
        ("Mr", ["Mrs", "Miss"], None),
        ("1", ["12", "21"], None),
        ("Q", [f"Q{number}" for number in range(20)], None),
    ],
)
def test_an_initial_stands_for_the_one_value_that_begins_with_it(
    asked: str, values: list[str], meant: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    code = f'n = (df["kind"] == "{asked}").sum()'
    exec(probe_after(Program(code=code)), {"df": pd.DataFrame({"kind": values})})
    text = capsys.readouterr().out
    result = ExecutionResult(status="ok", outputs=({"output_type": "stream", "name": "stdout", "text": text},))
    prepared = matched(code, read_matches(result))
    assert (prepared.code if prepared is not None else None) == (
        None if meant is None else f'n = (df["kind"] == {meant!r}).sum()'
    )


def test_a_text_that_another_column_has_is_left_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.DataFrame({"sex": ["M", "F"], "kind": ["malignant", "benign"]})
    code = 'n = ((df["sex"] == "M") & (df["kind"] == "M")).sum()'
    exec(probe_after(Program(code=code)), {"df": frame})
    text = capsys.readouterr().out
    result = ExecutionResult(status="ok", outputs=({"output_type": "stream", "name": "stdout", "text": text},))
    [seen] = read_matches(result)
    assert (seen.column, seen.found, seen.others) == ("kind", ("malignant",), ("sex",))
    assert matched(code, [seen]) is None


def test_the_model_is_told_which_filter_left_nothing_and_which_column_has_the_value() -> None:
    seen = [
        ValueMatch(column="dest", asked="JFK", others=("origin",)),
        ValueMatch(column="dest", asked="ZZZ"),
        ValueMatch(column="source", asked="ABC News", found=("abc-news",)),
    ]
    assert explained(seen) == "No row has 'JFK' in dest; it is a value of origin. No row has 'ZZZ' in dest."


@pytest.mark.parametrize(
    "code",
    [
        'print(df["size"].sum())',
        'print(df[df["size"] == 1.0])',
        'print(f()["a"] == "x")',
        "not python (",
    ],
)
def test_nothing_is_looked_at_where_no_column_is_compared_with_text(code: str) -> None:
    assert probe_after(Program(code=code)) == ""
    assert probe_inline(Program(code=code)) == ""


def test_values_that_are_there_or_not_certain_stand(capsys: pytest.CaptureFixture[str]) -> None:
    code = 'n = (df["source"] == "bbc").sum()\nm = (df["source"] == "cnn").sum()'
    found = read_matches(shown(probe_after(Program(code=code)), capsys, code))
    assert found == (ValueMatch(column="source", asked="cnn"),)
    assert matched(code, found) is None
    assert matched(code, [ValueMatch(column="source", asked="cnn", found=("CNN", "c.n.n."))]) is None


def test_what_the_sandbox_tells_is_not_trusted() -> None:
    lines = "\n".join(
        f"#written-otherwise {told}" for told in ("{", '["c", "a", [1], []]', '["a"]', '["c", "a", ["b"], []]')
    )
    result = ExecutionResult(status="ok", outputs=({"output_type": "stream", "name": "stdout", "text": lines},))
    assert read_matches(result) == (ValueMatch(column="c", asked="a", found=("b",)),)
    [prepared] = [matched('x == "a"', read_matches(result))]
    assert prepared is not None
    assert prepared.code == "x == 'b'"
