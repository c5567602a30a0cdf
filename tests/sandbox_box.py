"""A sandbox as tests use it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.sandbox.local.backend import LocalBackend
from jupyter_codeagent.sandbox.local.walls.process import SandboxProcess
from jupyter_codeagent.types.sandbox import ExecutionResult

T = TypeVar("T")


class Box:
    """A sandbox, driven from the tests' own thread through the loop it lives in."""

    def __init__(
        self, kernel: SandboxKernel, run: Callable[[Coroutine[Any, Any, Any]], Any], data_dir: Path
    ) -> None:
        self.kernel = kernel
        self.data_dir = data_dir
        self._run = run

    @property
    def is_here(self) -> bool:
        return isinstance(self.kernel.backend, LocalBackend)

    @property
    def process(self) -> SandboxProcess:
        """Of a sandbox on this machine."""
        if not isinstance(self.kernel.backend, LocalBackend):
            pytest.skip("a remote sandbox has no process on this machine")
        return self.kernel.backend.process

    def run(self, code: str, timeout_s: float = 30.0) -> ExecutionResult:
        result = self._run(self.kernel.execute(code, timeout_s=timeout_s))
        assert isinstance(result, ExecutionResult)
        return result

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        return self._run(work)  # type: ignore[no-any-return]

    def text(self, code: str, timeout_s: float = 30.0) -> str:
        return printed(self.run(code, timeout_s))


def printed(result: ExecutionResult) -> str:
    return "".join(output["text"] for output in result.outputs if output["output_type"] == "stream").strip()
