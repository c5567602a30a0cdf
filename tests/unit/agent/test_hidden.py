"""Code that asks for a hidden column is told so; a hidden column that nobody asked for is never named."""

from __future__ import annotations

import pytest

from jupyter_codeagent.agent.prompt.hidden_columns import hidden_hint
from jupyter_codeagent.types.sandbox import ExecutionError

HIDDEN = {"flights": frozenset({"tailnum", "canary"})}


@pytest.mark.parametrize(
    ("ename", "evalue"),
    [
        ("KeyError", "'tailnum'"),
        ("KeyError", "\"['tailnum'] not in index\""),
        ("AttributeError", "'DataFrame' object has no attribute 'tailnum'"),
        ("ColumnNotFoundError", 'unable to find column "tailnum"'),
    ],
)
def test_the_label_that_the_code_named_is_said_to_be_hidden(ename: str, evalue: str) -> None:
    hint = hidden_hint(ExecutionError(ename=ename, evalue=evalue), HIDDEN)
    assert hint == "'tailnum' of flights: hidden by the user, so the sandbox has no copy; answer without it"
    assert "canary" not in hint


@pytest.mark.parametrize(("ename", "evalue"), [("KeyError", "'carrier'"), ("ValueError", "tailnum")])
def test_other_errors_name_no_hidden_column(ename: str, evalue: str) -> None:
    assert hidden_hint(ExecutionError(ename=ename, evalue=evalue), HIDDEN) == ""
