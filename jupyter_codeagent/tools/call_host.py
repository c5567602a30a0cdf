"""What calls need of the user's kernel, and how much of it one run may use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from jupyter_codeagent.types.variables import CopiedVariable

Result = TypeVar("Result")


class MainThread(Protocol):
    """The part of `BackgroundLoop` that runs calls where the user's objects are, while the cell waits."""

    async def __call__(self, call: Callable[[], Result]) -> Result: ...


class UsersLoop(Protocol):
    """A loop for the user's coroutines, which may block it without blocking ours."""

    async def __call__(self, coroutine: Coroutine[Any, Any, Result]) -> Result: ...


class Spool(Protocol):
    """A place where copies of results are written for the sandbox."""

    def write(self, name: str, value: Any, max_bytes: int) -> CopiedVariable: ...

    def discard(self, copy: CopiedVariable) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Host:
    """The parts of the user's kernel that calls need."""

    on_main_thread: MainThread
    on_users_loop: UsersLoop
    spool: Spool


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one run."""

    argument_bytes: int
    """Bytes of the arguments of one call."""
    result_bytes: int
    """Bytes of all results that are copied."""
    calls: int = 1000
    calls_per_cell: int = 100
    """Calls of one execution."""


class CallCounter:
    """Counts the calls of a run and those of its present execution."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._of_cell = self._of_run = 0
        self._by_key: Counter[str] = Counter()

    def begin(self) -> None:
        """Start counting for another execution."""
        self._of_cell = 0
        self._by_key.clear()

    def repetition(self, key: str) -> int:
        """Count a call; return how many with the same arguments this execution has asked for, this one included."""
        self._by_key[key] += 1
        return self._by_key[key]

    def exceeded(self) -> str:
        """Count a call that is about to be made; return the limit that it exceeds, or an empty text."""
        self._of_cell += 1
        self._of_run += 1
        if self._of_cell > self._limits.calls_per_cell:
            return f"{self._limits.calls_per_cell} calls per cell (CodeAgent.max_calls_per_cell)"
        if self._of_run > self._limits.calls:
            return f"{self._limits.calls} calls per run (CodeAgent.max_calls)"
        return ""
