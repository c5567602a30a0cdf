"""A program that lacks a name, or a choice, goes on where it is missing."""

from __future__ import annotations

import pytest

from jupyter_codeagent.agent.prompt.resuming import resume_at_choice, resume_at_error, resume_at_missing_name
from jupyter_codeagent.types.sandbox import ExecutionError, NamespaceEntry

NAMESPACE = [NamespaceEntry(name="flights", type_name="DataFrame", columns=("delay",))]


def missing(name: str, line: int | None) -> ExecutionError:
    return ExecutionError(ename="NameError", evalue=f"name '{name}' is not defined", line=line)


def test_the_next_program_begins_with_what_ran_and_the_missing_name() -> None:
    code = "m = flights.delay.mean()\nprint(\n    m,\n    verdict)\nprint(2)"
    assert resume_at_missing_name(code, missing("verdict", 4), NAMESPACE) == "m = flights.delay.mean()\nverdict ="
    assert resume_at_missing_name("print(verdict)", missing("verdict", 1), NAMESPACE) == "verdict ="
    decorated = "x = 1\n@cache\ndef f(n=verdict):\n    return n"
    assert resume_at_missing_name(decorated, missing("verdict", 3), NAMESPACE) == "x = 1\nverdict ="


@pytest.mark.parametrize(
    ("failed", "begins"),
    [
        ("total = df.x.sum()", "total ="),
        ("df['a b'] = 1", "df['a b'] ="),
        ("plt.bar(df.x,\n  df.y)", "plt.bar("),
        ("print(df.x)", "print("),
        ("for name in df.x:\n    print(name)", "for name in"),
    ],
)
def test_a_program_goes_on_with_the_statement_that_failed(failed: str, begins: str) -> None:
    error = ExecutionError(ename="KeyError", evalue="'x'", line=3)
    assert resume_at_error(f"n = 1\n# é\n{failed}\nm = 2", error) == ("n = 1\n# é\n", begins)


def test_a_call_that_may_be_what_is_wrong_is_not_begun_again() -> None:
    for ename in ("AttributeError", "NameError"):
        assert (
            resume_at_error("n = 1\nout.append(n)", ExecutionError(ename=ename, evalue="no append", line=2)) is None
        )


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import os\ntotal = x", 2),
        ("total = x", 1),
        ("n = 1; total = x", 1),
        ("n = 1\ntotal = x", None),
        ("n = 1\ntotal = x", 9),
        ("n = 1\ntotal = (", 2),
        ("n = 1\nwith x:\n    total = 1", 2),
        ("n = 1\nx", 2),
        ("n = 1\nx[0] = 3", 2),
    ],
)
def test_a_program_of_which_nothing_is_known_to_be_right_is_written_anew(code: str, line: int | None) -> None:
    assert resume_at_error(code, ExecutionError(ename="KeyError", evalue="'x'", line=line)) is None


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("print(flight)", missing("flight", 1)),
        ("print(delay)", missing("delay", 1)),
        ("print(np.mean(x))", missing("np", 1)),
        ("print(verdict)\nverdict = 1", missing("verdict", 1)),
        ("print(judge(1))", missing("judge", 1)),
        ("print(verdict)", missing("verdict", None)),
        ("print(verdict)", missing("verdict", 7)),
        ("print(verdict", missing("verdict", 1)),
        ("t = flights.tags.apply(eval)", missing("Schizophrenia", 1)),
        ("print(verdict)", ExecutionError(ename="KeyError", evalue="'verdict'", line=1)),
    ],
)
def test_a_name_that_another_correction_is_for_is_not_begun(code: str, error: ExecutionError) -> None:
    assert resume_at_missing_name(code, error, NAMESPACE) == ""


@pytest.mark.parametrize(
    ("code", "begun"),
    [
        ("r = x.corr(y)\n\n# Show it\nprint(r)\nprint(2)", "r = x.corr(y)\n# 'strong', 'weak'\nif"),
        ("r = x.corr(y)\nr", "r = x.corr(y)\n# 'strong', 'weak'\nif"),
        ("print(x.corr(y))", ""),
        ("r = x.corr(y)", ""),
        ("r = (", ""),
        (
            "d.dropna(inplace=True)\nr = d.a.corr(d.b)\nprint(r)",
            "d.dropna(inplace=True)\nr = d.a.corr(d.b)\n# 'strong', 'weak'\nif",
        ),
        ("r = x.corr(y); print(r)", ""),
        ("r = x.corr(y)\nfor n in r:\n    print(n)", ""),
        ("", ""),
    ],
)
def test_a_program_that_shows_a_figure_where_a_word_was_wanted_goes_on_with_the_choice(
    code: str, begun: str
) -> None:
    assert resume_at_choice(code, ("strong", "weak")) == begun
