"""What the rest of the package needs of a sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jupyter_codeagent.sandbox.tool_calls import OnCall
from jupyter_codeagent.types.sandbox import ExecutionResult, PackedValue, SandboxStatus
from jupyter_codeagent.types.variables import CopiedVariable, ToolStub


class CodeRunner(Protocol):
    """Runs code where it can do no harm. All methods are called from one event loop."""

    async def execute(self, code: str, *, timeout_s: float) -> ExecutionResult:
        """Run one cell's code; state persists. Never raises for what the code does.

        A result with status `killed` means that the sandbox is gone. Cancelling the task interrupts the code
        (then kills it after the policy's grace) and keeps the state where it can.
        """
        ...


class CallingRunner(CodeRunner, Protocol):
    """A `CodeRunner` whose code may call functions of the user's."""

    async def execute(
        self,
        code: str,
        *,
        timeout_s: float,
        on_call: OnCall | None = None,
    ) -> ExecutionResult:
        """As `CodeRunner.execute`.

        `on_call` is asked for each call of a function that was offered, and what it raises ends the execution;
        the time limit does not count while it works. Without it no call is possible.
        """
        ...


class Sandbox(CallingRunner, Protocol):
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

    async def offer(self, tools: Sequence[ToolStub]) -> None:
        """Bind stubs of these functions, in place of those of before.

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

    async def stop(self) -> None:
        """Kill everything in it and remove what it left; idempotent."""
        ...
