"""What code in the sandbox is told of a call that failed."""

from __future__ import annotations

import pytest

from jupyter_codeagent.tools.exceptions import explained, without_paths


class QuotaError(ConnectionError):
    """Of somebody's library."""


@pytest.mark.parametrize(
    ("problem", "ename", "evalue"),
    [
        (ValueError("no such airport"), "ValueError", "no such airport"),
        (KeyError("JFK"), "KeyError", "JFK"),
        (QuotaError("429"), "ConnectionError", "QuotaError: 429"),
        (FileNotFoundError(2, "No such file", "/home/ada/secret/x.csv"), "FileNotFoundError", "…/x.csv"),
        (RuntimeError("x" * 2000), "RuntimeError", "x" * 500),
        (
            ConnectionError("postgresql://ada:geheim@db/x is down"),
            "ConnectionError",
            "postgresql://***@db/x is down",
        ),
    ],
)
def test_a_failure_is_the_nearest_built_in_exception_without_paths_of_the_user(
    problem: Exception, ename: str, evalue: str
) -> None:
    answer = explained(problem)
    assert answer.ename == ename
    assert evalue in answer.evalue
    assert "/home/ada" not in answer.evalue
    assert len(answer.evalue) <= 500


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cannot read '/home/ada/data/x.csv'", "cannot read '…/x.csv'"),
        (r"cannot read C:\Users\ada\x.csv", "cannot read …/x.csv"),
        ("~/notes/a.txt is gone", "…/a.txt is gone"),
        ("3/4 of the rows", "3/4 of the rows"),
        ("see https://example.org/a/b", "see https://example.org/a/b"),
        ("no file:///home/ada/x.csv", "no file:…/x.csv"),
        ("(sqlite:////home/ada/x.db)", "(sqlite:…/x.db)"),
        ("path:/home/ada/x.csv, gone", "path:…/x.csv, gone"),
    ],
)
def test_paths_of_this_machine_are_named_by_their_last_part(text: str, told: str) -> None:
    assert without_paths(text) == told
