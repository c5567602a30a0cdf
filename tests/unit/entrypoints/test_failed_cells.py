"""Which failed cell `%agent fix` repairs."""

from __future__ import annotations

import pytest

from jupyter_codeagent.entrypoints.failed_cells import KEPT, Failure, Failures
from jupyter_codeagent.types.errors import UsageError

VSCODE = "vscode-notebook-cell:/home/me/eda.ipynb#W%dsZmlsZQ%%3D%%3D"


def failure(source: str, count: int | None = None) -> Failure:
    return Failure(source=source, error="NameError: x", count=count)


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
    failures.forget("aaaa1111-old", "old")
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


def test_where_ids_are_addresses_or_missing_a_cell_is_named_by_its_number() -> None:
    failures = Failures()
    failures.remember(VSCODE % 1, failure("older", 3))
    failures.remember(VSCODE % 2, failure("newer", 4))
    failures.remember(None, failure("without id", 5))
    assert [cell for cell, _ in failures.listed()] == ["5", "4", "3"]
    assert [failures.find(cell).source for cell in ("3", "4", "5")] == ["older", "newer", "without id"]
    for other in ["vscode-n", "6", "33", "[3]"]:
        with pytest.raises(UsageError, match="has not failed"):
            failures.find(other)


def test_a_cell_that_fails_again_has_its_new_number_only() -> None:
    failures = Failures()
    failures.remember(VSCODE % 1, failure("first", 3))
    failures.remember(VSCODE % 1, failure("second", 7))
    assert failures.find("7").source == "second"
    with pytest.raises(UsageError):
        failures.find("3")


def test_without_an_id_the_same_text_is_the_same_cell() -> None:
    failures = Failures()
    failures.remember(None, failure("open('x')", 3))
    failures.remember(None, failure("open('x')", 4))
    failures.remember(None, failure("other", 5))
    assert [cell for cell, _ in failures.listed()] == ["5", "4"]
    failures.forget(None, "open('x')")
    assert [cell for cell, _ in failures.listed()] == ["5"]


def test_an_id_of_nbformat_is_offered_and_its_number_works_too(failures: Failures) -> None:
    failures.remember("cccc3333-id", failure("by number", 12))
    assert next(failures.listed())[0] == "cccc3333"
    assert failures.find("12").source == failures.find("cccc3333").source == "by number"
