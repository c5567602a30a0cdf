"""A cell that its user has ended fails without a line in red; in a real IPython shell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_codeagent.entrypoints import neutral_end
from jupyter_codeagent.types.errors import CodeAgentError, DeniedError, RunFailedError


@pytest.fixture
def shell() -> Iterator[Any]:
    shell = InteractiveShell()
    neutral_end.install(shell)
    yield shell
    neutral_end.uninstall(shell)


def ran(shell: Any, error: Exception) -> BaseException | None:
    shell.user_ns["error"] = error
    failed: BaseException | None = shell.run_cell("raise error").error_in_exec
    return failed


@pytest.mark.parametrize(
    ("text", "shown"), [("", ""), ("Not done: the answer was no.", "Not done: the answer was no.\n")]
)
def test_what_its_user_has_ended_is_an_error_that_is_shown_in_neutral_words(
    shell: Any, capsys: pytest.CaptureFixture[str], text: str, shown: str
) -> None:
    error = DeniedError("no")
    error.neutral_text = text
    assert ran(shell, error) is error  # front ends give up what waits behind it
    assert capsys.readouterr() == (shown, "")


def test_any_other_error_is_shown_as_ever(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(ran(shell, RunFailedError("No working code.")), RunFailedError)
    assert "RunFailedError: No working code." in capsys.readouterr().out
    assert isinstance(ran(shell, KeyError("x")), KeyError)
    assert "KeyError" in capsys.readouterr().out


def test_no_error_of_ours_acts_on_a_terminal(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ran(shell, RunFailedError("Dask: \x1b]52;c;aGk=\x07no such row \u202e"))
    assert "RunFailedError: Dask: <U+001B>]52;c;aGk=<U+0007>no such row <U+202E>" in capsys.readouterr().out


def test_a_handler_of_the_users_own_stays() -> None:
    shell: Any = InteractiveShell()
    shell.set_custom_exc((ValueError,), lambda *_, **__: None)
    neutral_end.install(shell)
    assert shell.custom_exceptions == (ValueError,)
    neutral_end.uninstall(shell)
    assert shell.custom_exceptions == (ValueError,)


def test_after_unloading_nothing_is_left() -> None:
    shell: Any = InteractiveShell()
    before = shell.custom_exceptions
    neutral_end.install(shell)
    assert shell.custom_exceptions == (CodeAgentError,)
    neutral_end.uninstall(shell)
    assert shell.custom_exceptions == before
