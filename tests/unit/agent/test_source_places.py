"""Where a statement stands in the text of a program."""

from __future__ import annotations

import pytest

from jupyter_codeagent.agent.source import parse, span


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_statement_is_found_whatever_ends_the_lines(end: str) -> None:
    code = f"é = 1{end}'ä'; last = é"
    tree = parse(code)
    assert tree is not None
    start, stop = span(code, tree.body[-1])
    assert code[start:stop] == "last = é"
