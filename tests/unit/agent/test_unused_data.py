"""Data that is made and never used goes back to the model once."""

from __future__ import annotations

import pytest
from rule_calls import issue_of, said

from jupyter_codeagent.agent.rules.unused_data import unused_data
from jupyter_codeagent.types.sandbox import ExecutionResult, NamespaceEntry, StreamOutput

NAMESPACE = (
    NamespaceEntry(name="df", type_name="DataFrame"),
    NamespaceEntry(name="clean", type_name="DataFrame"),
    NamespaceEntry(name="n", type_name="int"),
)


def test_a_frame_that_was_cleaned_and_never_used_is_told() -> None:
    printed = StreamOutput(output_type="stream", name="stdout", text="mean: 1.5\n")
    result = ExecutionResult(status="ok", outputs=(printed,), namespace=NAMESPACE)
    told = issue_of(result, "clean = df[df['x'] < 3]\nprint('mean:', df['x'].mean())")
    assert told == "clean is made and never used. Compute the result from it, or leave it out."
    assert issue_of(result, "clean = df[df['x'] < 3]\nprint('mean:', clean['x'].mean())") == ""
    kept = "Mean of x, and keep the rows below 3 as clean."
    assert issue_of(result, "clean = df[df['x'] < 3]\nprint('mean:', df['x'].mean())", kept) == ""


@pytest.mark.parametrize(
    "code",
    [
        "clean = df.dropna()",
        "n = len(df)\nprint(df)",
        "clean = pd\nclean.x = 1\nprint(clean)",
        "if n:\n    clean = df\nprint(df)",
        "clean, n = df, 1\nprint(df)",
        "clean = 5\nprint(df)",
        "clean = df.",
        "clean = df['x']\nprint(df['x'].mean())",
        "clean = df['id']\nprint(df.query('id in @clean'))",
    ],
)
def test_results_numbers_and_what_is_read_are_not_missed(code: str) -> None:
    assert said(unused_data, code, namespace=NAMESPACE) == ""
