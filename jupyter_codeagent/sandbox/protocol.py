"""The protocols by which the rest of the package uses a sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jupyter_codeagent.sandbox.tool_calls import OnCall
from jupyter_codeagent.types.exploration import ExplorationRequest
from jupyter_codeagent.types.sandbox import ExecutionResult, PackedValue, SandboxStatus
from jupyter_codeagent.types.variables import CopiedVariable, ToolStub


class CodeRunner(Protocol):
    """A place to run code where it can do no harm. All methods are called from one event loop."""

    async def execute(self, code: str, *, timeout_s: float) -> ExecutionResult:
        """Run one cell's code; state persists. Never raises for what the code does.

        A result with status `killed` means that the sandbox is gone. Cancelling the task interrupts the code
        (then kills it after the policy's grace) and keeps the state where it can.
        """
        ...


class CallingRunner(CodeRunner, Protocol):
    """A `CodeRunner` whose code may call the user's functions."""

    async def execute(
        self,
        code: str,
        *,
        timeout_s: float,
        on_call: OnCall | None = None,
    ) -> ExecutionResult:
        """Run code as `CodeRunner.execute` does.

        `on_call` answers each call of an offered function, and what it raises ends the execution. The time limit
        does not count while it works. Without it no call is possible.
        """
        ...


class Sandbox(CallingRunner, Protocol):
    """A `CodeRunner` with a life cycle and a way for data in and out: `kernel.SandboxKernel`."""

    @property
    def status(self) -> SandboxStatus:
        """Status as measured at the start."""
        ...

    @property
    def alive(self) -> bool:
        """Whether the sandbox still lives."""
        ...

    async def load(self, variables: Sequence[CopiedVariable], modules: Sequence[str] = ()) -> None:
        """Bind copies from the data directory to their names, and run the import lines.

        Raises
        ------
        SandboxDiedError, VariableError
        """
        ...

    async def offer(self, tools: Sequence[ToolStub]) -> None:
        """Bind stubs of these functions, in place of the previous ones.

        Raises
        ------
        SandboxDiedError, VariableError
        """
        ...

    async def explore(self, request: ExplorationRequest) -> str:
        """Look at tables of the sandbox; return the report of `guest.exploration` as JSON, not validated yet.

        Raises
        ------
        SandboxDiedError, VariableError
        """
        ...

    async def keep(self) -> None:
        """Remember the variables that code has made or changed, for `restore`.

        Raises
        ------
        SandboxDiedError, VariableError
        """
        ...

    async def restore(self) -> None:
        """Bind these variables as they were at `keep`; new ones stay.

        Raises
        ------
        SandboxDiedError, VariableError
        """
        ...

    async def fetch(self, name: str, *, max_bytes: int) -> PackedValue:
        """Return one variable as bytes that are not validated yet.

        Raises
        ------
        VariableError
            Unknown, too large, or of a kind that has no data form.
        SandboxDiedError
        """
        ...

    async def stop(self) -> None:
        """Kill all processes and remove all files of the sandbox; idempotent."""
        ...
