"""What the rest of the package needs of a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from jupyter_codeagent.values import (
    CopiedVariable,
    ExecutionResult,
    NamespaceEntry,
    Output,
    PackedValue,
    SandboxStatus,
)


class CodeRunner(Protocol):
    """Runs code where it can do no harm. All methods are called from one event loop."""

    async def execute(
        self, code: str, *, timeout_s: float, on_output: Callable[[Output], None] | None = None
    ) -> ExecutionResult:
        """Run one cell's code; state persists. Never raises for what the code does.

        A result with status `killed` means that the sandbox is gone. Cancelling the task interrupts the code
        (then kills it after the policy's grace) and keeps the state where it can.
        """
        ...


class Sandbox(CodeRunner, Protocol):
    """A `CodeRunner` with a life cycle and a data door: `kernel.SandboxKernel`."""

    @property
    def status(self) -> SandboxStatus:
        """What was measured at start."""
        ...

    @property
    def alive(self) -> bool: ...

    async def load(self, variables: Sequence[CopiedVariable], modules: Sequence[str] = ()) -> None:
        """Bind copies from the data directory to their names, and run the import lines.

        Raises
        ------
        SandboxDiedError, VariableError
        """
        ...

    async def fetch(self, name: str, *, max_bytes: int) -> PackedValue:
        """One variable as validated-later bytes.

        Raises
        ------
        VariableError
            Unknown, too large, or of a kind that has no data form.
        SandboxDiedError
        """
        ...

    async def namespace(self) -> tuple[NamespaceEntry, ...]: ...

    async def stop(self) -> None:
        """Kill everything in it and remove what it left; idempotent."""
        ...
