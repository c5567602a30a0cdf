"""Several results of one expression; and those that only look alike."""

from __future__ import annotations

import pytest
from rule_calls import issue_of, said

from jupyter_codeagent.agent.rules.duplicate_expressions import duplicate_expressions
from jupyter_codeagent.types.sandbox import ExecutionResult, StreamOutput

SHARE = "(d['L'] > d['L'].median()).mean()"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (f"low = {SHARE}\nhigh = {SHARE}\nprint(low, high)", "low and high"),
        (f"low = {SHARE}\nmiddle = {SHARE}\nhigh = {SHARE}", "low, middle and high"),
        ("b['c'] = b['S'].str.lower()\nb['e'] = b['S'].str.lower()\nprint(b)", "b['c'] and b['e']"),
        (f"low = {SHARE}\nhigh = {SHARE}\nd = d[d['L'] > 3]", "low and high"),
    ],
)
def test_results_of_the_same_expression_are_told(code: str, names: str) -> None:
    assert said(duplicate_expressions, code).startswith(f"{names} are made of the same expression")
    shown = StreamOutput(output_type="stream", name="stdout", text="0.5\n0.5\n")
    assert said(duplicate_expressions, code) in issue_of(ExecutionResult(status="ok", outputs=(shown,)), code)


@pytest.mark.parametrize(
    "code",
    [
        "a = df.copy()\nb = df.copy()",
        "a = df['x']\nb = df['x']",
        "before = df['x'].mean()\ndf = df[df['x'] < 3]\nafter = df['x'].mean()",
        "before = df['x'].mean()\ndf['x'] = df['x'].clip(0, 3)\nafter = df['x'].mean()",
        "before = df['x'].mean()\ndf.drop(index=3, inplace=True)\nafter = df['x'].mean()",
        "before = df['x'].mean()\nfor at in range(3):\n    df.loc[at, 'x'] = 0\nafter = df['x'].mean()",
        "a = df['x'].dropna()\nb = df['x'].dropna()\nb[0] = 3",
        "a = df['x'].sample(3)\nb = df['x'].sample(3)",
        "m = df['x'].mean()\nm = df['x'].mean()",
        "df['a'] = df['x'].fillna(0)\ndf['b'] = df['x'].fillna(0)\ndf.loc[df['b'] > 2, 'b'] = 0",
        "df['a'] = df['x'].fillna(0)\ndf['b'] = df['x'].fillna(0)\ndf['b'] = df['b'] + 1",
        "a = df['x'].mean()\nb = df['y'].mean()",
        "# 1. total\ntotal = df['x'].sum()\nprint(total)\n# 3. share\nall_of_it = df['x'].sum()",
        "a = ",
    ],
)
def test_what_may_differ_all_the_same_is_not_told(code: str) -> None:
    assert said(duplicate_expressions, code) == ""
