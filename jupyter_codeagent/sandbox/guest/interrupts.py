"""Interrupts inside the sandbox: none is lost that comes between a request and its code.

ipykernel ignores SIGINT until the handler of a request runs, and IPython swallows it in between, where it compiles
or calls back: the code then begins all the same. Here such an interrupt waits until the code begins.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupts:
    """Raises KeyboardInterrupt in code that runs; keeps one that comes before, for the code of the same request."""

    def __init__(self) -> None:
        self._running = 0
        """Depth of running code: a cell can run cells."""
        self._waits = False

    def handle(self, _number: int, _frame: object) -> None:
        """Handle SIGINT."""
        if self._running:
            raise KeyboardInterrupt
        self._waits = True

    def listen(self) -> None:
        """Become the handler, also after a cell has installed one of its own."""
        signal.signal(signal.SIGINT, self.handle)

    def forget(self) -> None:
        """Forget an interrupt that came after the code of an earlier request."""
        self._waits = False

    @contextmanager
    def code(self) -> Iterator[None]:
        """Let interrupts through while code runs; raise one that came before it."""
        self._running += 1
        try:
            if self._waits:
                self._waits = False
                raise KeyboardInterrupt
            yield
        finally:
            self._running -= 1


def install(kernel: Any) -> None:
    """Install in a kernel of ipykernel, on its main thread."""
    interrupts = Interrupts()
    run_code, set_parent = kernel.shell.run_code, kernel.set_parent

    async def run_interruptible(code: Any, result: Any = None, *, async_: bool = False) -> bool:
        with interrupts.code():
            return bool(await run_code(code, result, async_=async_))

    def begin_request(*given: Any, **named: Any) -> None:
        interrupts.forget()  # before the status busy, which the host waits for
        set_parent(*given, **named)

    kernel.shell.run_code, kernel.set_parent = run_interruptible, begin_request
    kernel.pre_handler_hook = kernel.post_handler_hook = interrupts.listen
    interrupts.listen()
