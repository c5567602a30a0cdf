"""One sandbox: an isolated ipykernel, whose messages are limited and never trusted."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from jupyter_codeagent.sandbox.backend import Backend
from jupyter_codeagent.sandbox.backends import make_backend
from jupyter_codeagent.sandbox.failures import blank_lines, execution_error
from jupyter_codeagent.sandbox.guard import OutputGuard, ValueGuard, one_line
from jupyter_codeagent.sandbox.guest_reports import AfterCellReport, read_after_cell_report, read_load_report
from jupyter_codeagent.sandbox.requests import RequestOutcome, Requests
from jupyter_codeagent.sandbox.selftest import measure
from jupyter_codeagent.sandbox.tool_call_handler import ToolCallHandler
from jupyter_codeagent.sandbox.tool_calls import OnCall
from jupyter_codeagent.types.errors import SandboxDiedError, SandboxUnavailableError, VariableError
from jupyter_codeagent.types.exploration import ExplorationRequest
from jupyter_codeagent.types.sandbox import (
    REMOTE_LEVELS,
    ExecutionError,
    ExecutionResult,
    ExecutionStatus,
    PackedValue,
    SandboxPolicy,
    SandboxStatus,
)
from jupyter_codeagent.types.variables import CopiedVariable, ToolStub

AFTER_CELL_TIMEOUT_S = 20.0
"""Limit for the report after a cell: on a busy machine five seconds were over before it came, and what the code had
changed was not told."""
NO_REPORT = "the sandbox gave no report"
"""Why operations are missing: a result that nobody has looked at must not count as checked."""
ANSWER_BYTES = 1 << 20
EXPLORATION_GRACE_S = 20.0
"""The guest looks at its clock between two looks at the data; one may take this long."""
INSTALL_HINT = (
    "Install bubblewrap (`apt install bubblewrap`), or allow unprivileged user namespaces or Landlock:"
    " `jupyter codeagent doctor` names the command."
)


class SandboxKernel:
    """Implements `protocol.Sandbox`. Everything happens in the event loop, and so in the thread, of `start`.

    That thread must live as long as the sandbox: the death signal that takes a sandbox along with its host is sent
    when the *thread* that spawned it ends (prctl(2), PR_SET_PDEATHSIG).
    """

    def __init__(self, backend: Backend, policy: SandboxPolicy) -> None:
        self._policy = policy
        self.backend = backend
        self._requests = Requests(backend, policy)
        self._exit_watch: asyncio.Task[None] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._stopped = False
        self._status: SandboxStatus | None = None
        self._missing: tuple[str, ...] = ()

    @classmethod
    async def start(cls, *, policy: SandboxPolicy, data_dir: Path, preload: Sequence[str] = ()) -> SandboxKernel:
        """Start the first of the policy's levels that works here and keeps its promises, as measured from inside.

        `data_dir` is a private directory of the host that the sandbox sees read-only; files may be added later.

        Raises
        ------
        SandboxUnavailableError
            If no level does. The text says what was tried, why each failed, and what to install.
        """
        if "none" in policy.levels and policy.levels != ("none",):
            raise SandboxUnavailableError(
                f"Sandbox level 'none' cannot be one of several ({', '.join(policy.levels)}): give it alone."
            )
        failures = []
        for level in policy.levels:
            kernel = cls(make_backend(level, policy, data_dir, preload), policy)
            try:
                await kernel._open()
            except (SandboxUnavailableError, SandboxDiedError, VariableError, OSError, TimeoutError) as problem:
                why = one_line(str(problem) or type(problem).__name__, 300).partition(" See <")[0]  # bwrap's pages
                failures.append(f"{level}: {why}")
                await kernel.stop()
            except BaseException:
                await kernel.stop()
                raise
            else:
                return kernel
        tried = "; ".join(failures) or "no level was given"
        hint = f" {INSTALL_HINT}" if set(policy.levels) - set(REMOTE_LEVELS) else ""
        raise SandboxUnavailableError(f"No sandbox works here, so nothing was run ({tried}).{hint}")

    async def _open(self) -> None:
        report = await self.backend.start()
        self._missing = tuple(
            f"module {name} is not available in the sandbox" for name in report.get("missing", ())
        )
        self._exit_watch = asyncio.create_task(self._watch_exit(), name="sandbox end")
        await self._requests.open()
        self._status = await measure(self.backend, self._policy, report, self._call)

    # --- protocol.Sandbox ---------------------------------------------------------------------------

    @property
    def status(self) -> SandboxStatus:
        """Status as measured at the start."""
        if self._status is None:
            raise SandboxDiedError("The sandbox has not been started: use SandboxKernel.start().")
        return self._status

    @property
    def alive(self) -> bool:
        """Whether the sandbox still lives."""
        return not self._requests.exit_reason

    async def execute(
        self,
        code: str,
        *,
        timeout_s: float,
        on_call: OnCall | None = None,
    ) -> ExecutionResult:
        """See `protocol.CodeRunner.execute`."""
        from jupyter_codeagent.notebook.outputs import clean_output

        async with self._one_at_a_time:
            call_handler = ToolCallHandler(self._requests, self.backend, on_call) if on_call is not None else None
            guard = OutputGuard(self._policy, clean_output, call_handler.take if call_handler is not None else None)
            started = time.monotonic()
            try:
                outcome = await self._requests.send(guard, code, timeout_s, silent=False)
            finally:
                if call_handler is not None:
                    await call_handler.end()
            duration_s = time.monotonic() - started
            _, peak_bytes = self.backend.usage()  # may find a limit exceeded, which ends the sandbox
            outputs = guard.finish()
            # What cannot be displayed is an error to whoever reads the result; the reply of IPython says ok.
            failed = guard.reply == "error" or any(output["output_type"] == "error" for output in outputs)
            status, reason = self._conclude(outcome, failed, guard, timeout_s)
            after = await self._after_cell(failed=guard.reply == "error")
            error: ExecutionError | None = None
            if status != "killed" and failed:
                error = execution_error(code, outputs, guard, after.line)
            blank = blank_lines(code)
            notes, self._missing = (*self._missing, *guard.notes), ()
            return ExecutionResult(
                status=status,
                outputs=outputs,
                error=error,
                reason=reason,
                duration_s=duration_s,
                peak_memory_bytes=peak_bytes,
                namespace=after.entries,
                changes=after.changes,
                operations=tuple(replace(one, line=one.line + blank) for one in after.operations),
                not_observed=after.not_observed,
                notes=notes,
            )

    async def load(self, variables: Sequence[CopiedVariable], modules: Sequence[str] = ()) -> None:
        """See `protocol.Sandbox.load`. The notes of the next execution name modules that are missing."""
        if not variables and not modules:
            return
        asked = {
            "directory": await self.backend.provide_files(
                [name for item in variables for name, _, _ in item.files]
            ),
            "variables": [
                {"name": item.name, "files": item.files, "buffers": item.buffers, "head": item.head}
                for item in variables
            ],
            "modules": list(modules),
        }
        answer = await self._call("load", asked, max_bytes=ANSWER_BYTES)
        try:
            report = read_load_report(answer.meta_json)
        except ValueError as problem:
            raise VariableError(f"The sandbox's report of what it loaded cannot be read: {problem}.") from problem
        if report.errors:
            failed = "; ".join(f"{name!r}: {text}" for name, text in report.errors.items())
            raise VariableError(f"Not loaded in the sandbox: {one_line(failed, 500)}")
        self._missing += tuple(
            one_line(f"`{line}` fails in the sandbox: {text}", 300) for line, text in report.missing.items()
        )

    async def offer(self, tools: Sequence[ToolStub]) -> None:
        """See `protocol.Sandbox.offer`."""
        described = [
            {
                "name": tool.name,
                "signature": tool.signature,
                "doc": tool.doc,
                "kind": tool.kind,
                "columns": tool.columns,
            }
            for tool in tools
        ]
        await self._call("offer", {"tools": described}, max_bytes=ANSWER_BYTES)

    async def explore(self, request: ExplorationRequest) -> str:
        """See `protocol.Sandbox.explore`."""
        limit_s = request.seconds + EXPLORATION_GRACE_S
        answer = await self._call("explore", asdict(request), max_bytes=ANSWER_BYTES, limit_s=limit_s)
        return answer.meta_json

    async def keep(self) -> None:
        """See `protocol.Sandbox.keep`."""
        await self._call("keep", {}, max_bytes=ANSWER_BYTES)

    async def restore(self) -> None:
        """See `protocol.Sandbox.restore`."""
        await self._call("restore", {}, max_bytes=ANSWER_BYTES)

    async def fetch(self, name: str, *, max_bytes: int) -> PackedValue:
        """See `protocol.Sandbox.fetch`."""
        return await self._call("fetch", {"name": name, "max_bytes": max_bytes}, max_bytes=max_bytes)

    async def stop(self) -> None:
        """See `protocol.Sandbox.stop`."""
        if self._stopped:
            return
        self._stopped = True
        self._requests.kill("it was stopped")
        if self._exit_watch is not None:
            self._exit_watch.cancel()
            await asyncio.gather(self._exit_watch, return_exceptions=True)
        await self.backend.close()

    def resident_bytes(self) -> int:
        """Return the memory of all its processes, shared libraries included; for reports, not for limits."""
        return self.backend.usage()[0].resident_bytes

    # --- requests -----------------------------------------------------------------------------------

    async def _call(
        self, call: str, asked: dict[str, Any], *, max_bytes: int, limit_s: float | None = None
    ) -> PackedValue:
        """Run one of `guest.calls` and return its answer.

        Raises
        ------
        SandboxDiedError, VariableError
        """
        guard, limit_s = ValueGuard(max_bytes), limit_s or self._policy.wall_s
        async with self._one_at_a_time:
            outcome = await self._requests.send(guard, _call_code(call, asked), limit_s, silent=True)
        if outcome == "dead":
            raise SandboxDiedError(f"The sandbox is gone: {self._requests.exit_reason}.")
        if outcome == "time":
            raise VariableError(f"The sandbox did not answer within {limit_s:g} s.")
        if guard.problem:
            raise VariableError(f"{guard.problem[:1].upper()}{guard.problem[1:]}.")
        return guard.value()

    async def _after_cell(self, *, failed: bool) -> AfterCellReport:
        """Return the report after a cell.

        Where the sandbox died or gives no sensible answer it says so and nothing else: it is a hint, not a result.
        """
        guard = ValueGuard(ANSWER_BYTES)
        code = _call_code("after_cell", {"failed": failed})
        outcome = await self._requests.send(guard, code, AFTER_CELL_TIMEOUT_S, silent=True)
        if outcome != "done" or guard.problem:
            return AfterCellReport(not_observed=NO_REPORT)
        try:
            return read_after_cell_report(guard.value().meta_json)
        except ValueError:
            return AfterCellReport(not_observed=NO_REPORT)

    def _conclude(
        self, outcome: RequestOutcome, failed: bool, guard: OutputGuard, limit_s: float
    ) -> tuple[ExecutionStatus, str]:
        if not self.alive:
            return "killed", f"The sandbox is gone: {self._requests.exit_reason}."
        if outcome == "time":
            return "timeout", f"Stopped after {limit_s:g} s, the limit for one execution."
        if outcome == "output":
            return "interrupted", f"{guard.overflow[:1].upper()}{guard.overflow[1:]}."
        return ("error" if failed or guard.reply != "ok" else "ok"), ""

    async def _watch_exit(self) -> None:
        await self.backend.ended.wait()
        self._requests.kill(self.backend.exit_reason)


def _call_code(call: str, asked: dict[str, Any]) -> str:
    return f"__import__('codeagent_inside.calls').calls.answer({call!r}, {json.dumps(asked)!r})"
