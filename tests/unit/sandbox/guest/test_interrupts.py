"""When an interrupt reaches the code inside the sandbox."""

from __future__ import annotations

import pytest

from jupyter_codeagent.sandbox.guest.interrupts import Interrupts


def interrupt(interrupts: Interrupts) -> None:
    interrupts.handle(2, None)


def test_an_interrupt_while_code_runs_is_raised_in_it() -> None:
    interrupts = Interrupts()
    with pytest.raises(KeyboardInterrupt), interrupts.code(), interrupts.code():
        interrupt(interrupts)


def test_an_interrupt_between_a_request_and_its_code_is_raised_where_the_code_begins_and_once() -> None:
    interrupts = Interrupts()
    interrupt(interrupts)
    began = False
    with pytest.raises(KeyboardInterrupt), interrupts.code():
        began = True
    assert not began
    with interrupts.code():
        began = True
    assert began


def test_an_interrupt_that_came_too_late_for_a_request_does_not_stop_the_next() -> None:
    interrupts = Interrupts()
    with interrupts.code():
        pass
    interrupt(interrupts)
    interrupts.forget()
    with interrupts.code():
        pass
