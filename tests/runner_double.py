"""A `CodeRunner` that looks its results up: for the agent loop, which has no other business with code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from jupyter_codeagent.values import ExecutionError, ExecutionResult, Output, StreamOutput


def shown(text: str) -> ExecutionResult:
    """A result that printed this."""
    return ExecutionResult(status="ok", outputs=(StreamOutput(output_type="stream", name="stdout", text=text),))


def failed(ename: str, evalue: str) -> ExecutionResult:
    """A result with this exception."""
    return ExecutionResult(status="error", error=ExecutionError(ename=ename, evalue=evalue))


@dataclass
class RunnerDouble:
    """Results by code; code that is not known has printed its own text."""

    results: dict[str, ExecutionResult] = field(default_factory=dict)
    executed: list[str] = field(default_factory=list)

    async def execute(
        self, code: str, *, timeout_s: float, on_output: Callable[[Output], None] | None = None
    ) -> ExecutionResult:
        self.executed.append(code)
        return self.results.get(code.strip(), shown(code))
