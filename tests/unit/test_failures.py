"""Which failed cell `%agent fix` repairs."""

from __future__ import annotations

import pytest

from jupyter_codeagent.errors import UsageError
from jupyter_codeagent.failures import KEPT, Failure, Failures


def failure(source: str) -> Failure:
    return Failure(source=source, error="NameError: x")


@pytest.fixture
def failures() -> Failures:
    failures = Failures()
    failures.remember("aaaa1111-old", failure("old"))
    failures.remember("bbbb2222-new", failure("new"))
    return failures


def test_without_a_cell_it_is_the_last_failure(failures: Failures) -> None:
    assert failures.find("").source == "new"
    failures.remember(None, failure("of a terminal"))
    assert failures.find("").source == "of a terminal"


def test_an_older_cell_is_found_by_the_beginning_of_its_id(failures: Failures) -> None:
    assert failures.find("aaaa1111").source == "old"
    assert list(failures.listed()) == [("bbbb2222", "NameError: x"), ("aaaa1111", "NameError: x")]


def test_only_the_id_of_a_failed_cell_names_it(failures: Failures) -> None:
    assert failures.find("aaaa1111-old").source == "old"
    failures.remember("short", failure("of a short id"))
    assert failures.find("short").source == "of a short id"
    for other in ["aaaa", "a", "aaaa1111-old ", "aaaa1111-old; x", "aaaa1111-older", "aaaa1111\nx", "shor", "*"]:
        with pytest.raises(UsageError, match="has not failed"):
            failures.find(other)


def test_an_id_with_a_line_end_or_a_blank_is_offered_to_nobody(failures: Failures) -> None:
    failures.remember("x\n!ls -a", failure("foreign"))
    failures.remember("x y", failure("foreign"))
    assert [cell for cell, _ in failures.listed()] == ["bbbb2222", "aaaa1111"]
    assert failures.find("").source == "foreign"


def test_a_cell_that_ran_since_is_not_repaired_and_the_error_says_what_to_do(failures: Failures) -> None:
    failures.forget("aaaa1111-old")
    with pytest.raises(UsageError, match=r"aaaa1111 has not failed .* Run it, then ask again"):
        failures.find("aaaa1111")


def test_only_the_newest_are_kept(failures: Failures) -> None:
    for number in range(KEPT):
        failures.remember(f"cell-{number}", failure(str(number)))
    assert len(list(failures.listed())) == KEPT
    assert failures.find("cell-0").source == "0"
    with pytest.raises(UsageError):
        failures.find("bbbb2222")


def test_nothing_failed_yet() -> None:
    with pytest.raises(UsageError, match="no cell has failed"):
        Failures().find("")
