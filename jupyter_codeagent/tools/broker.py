"""The calls of one run, each from the sandbox to a decision, to the user's function and back."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jupyter_codeagent.sandbox.data.unpack import unpack, unpack_outline
from jupyter_codeagent.sandbox.protocol import CallingRunner
from jupyter_codeagent.sandbox.tool_calls import CallAnswer, CallRequest
from jupyter_codeagent.tools.call_arguments import read_arguments
from jupyter_codeagent.tools.call_decision import AllowedCall, CallDecider
from jupyter_codeagent.tools.call_execution import CallExecutor
from jupyter_codeagent.tools.call_host import CallCounter, Host, Limits
from jupyter_codeagent.tools.call_outcome import CallOutcome, refused, refused_arguments
from jupyter_codeagent.tools.call_replay import RecordedCalls
from jupyter_codeagent.tools.call_results import CallResults
from jupyter_codeagent.tools.exceptions import explained
from jupyter_codeagent.tools.timeouts import TookTooLongError
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.tools.undo import DoneCall
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.sandbox import ExecutionResult, ToolCall
from jupyter_codeagent.variables.privacy.masking import masked


class ToolCallBroker:
    """Answers the calls of one execution at a time: `begin`, then `answer` for each call, on the background loop.

    A call that was made or denied in this run is not made or asked about again: a corrected program is run again,
    and what the first one called has happened. The recorded result is returned, as many times as it was called.
    The same holds for the calls of a replayed run that a person approved; calls that only read are made again.
    """

    def __init__(
        self,
        tools: Mapping[str, Tool],
        *,
        run_id: str,
        decide: Callable[[Proposal], Awaitable[Decision]],
        host: Host,
        limits: Limits,
        unsure: set[str] | None = None,
        recorded: Sequence[ToolCall] = (),
    ) -> None:
        """Create the broker of one run.

        Parameters
        ----------
        unsure
            Keys of calls that began and never returned, in any run: an approval of several calls covers none of
            them. The broker adds to it.
        recorded
            The calls of the run that is replayed.
        """
        self._tools = tools
        self._on_main_thread = host.on_main_thread
        self._argument_bytes = limits.argument_bytes
        self._unsure = set() if unsure is None else unsure
        self._counter = CallCounter(limits)
        self._executor = CallExecutor(host)
        self._decider = CallDecider(run_id, decide, self._unsure, self._executor.estimate)
        self._results = CallResults(host, limits.result_bytes)
        self._recorded = RecordedCalls(tools, recorded)
        self._one_at_a_time = asyncio.Lock()
        self._outcomes: dict[str, list[CallOutcome]] = {}
        """Calls that were made or denied in this run, by their key."""
        self.on_calls: Callable[[tuple[ToolCall, ...]], None] = lambda _: None
        """Called after each call with the calls of the present execution."""
        self.on_call_start: Callable[[tuple[ToolCall, ...]], None] = lambda _: None
        """Called before a call that does more than read, with the calls so far and this one."""
        self.calls: tuple[ToolCall, ...] = ()
        """Calls of the present execution, in the order in which they ended."""
        self.of_run: tuple[ToolCall, ...] = ()
        """Calls of the whole run that were made or denied."""
        self.done: list[DoneCall] = []
        """Calls that did more than read, in order, with what their `undo` needs if they have one."""

    def begin(self) -> None:
        """Begin an execution."""
        self._counter.begin()
        self.calls = ()
        self.on_calls(self.calls)

    def interrupt(self) -> None:
        """Interrupt the function that runs on the main thread, as Ctrl+C does. Any thread."""
        self._executor.interrupt()

    def close(self) -> None:
        """Remove copies of results: the run is over."""
        self._results.close()

    @property
    def replayed(self) -> tuple[ToolCall, ...]:
        """Calls whose result came from the record."""
        return self._recorded.replayed

    def not_replayed(self) -> tuple[ToolCall, ...]:
        """Return the recorded calls whose results the replay could have used and did not."""
        return self._recorded.left

    def made_again(self) -> tuple[ToolCall, ...]:
        """Return calls made or denied in a replay although their kind gets results from the record."""
        return tuple(call for call in self.of_run if not call.earlier and self._recorded.is_replayed(call.tool))

    async def answer(self, request: CallRequest) -> CallAnswer:
        """Return the answer for the sandbox; raise only for faults of our own."""
        async with self._one_at_a_time:
            earlier = self._outcomes.get(request.key, [])
            repetition = self._counter.repetition(request.key)
            if len(earlier) >= repetition:
                known = earlier[repetition - 1]
                self._note(replace(known.call, line=request.line, earlier=True))
                return known.answer
            outcome = await self._recorded.outcome(request, self._on_main_thread, self._results)
            outcome = outcome or await self._new_call(request)
            self._note(outcome.call)
            if outcome.call.status in ("ok", "denied"):
                self._outcomes.setdefault(request.key, []).append(outcome)
            if outcome.call.status in ("ok", "denied", "stopped"):
                self.of_run += (outcome.call,)
            return outcome.answer

    def _note(self, call: ToolCall) -> None:
        self.calls = (*self.calls, call)
        self.on_calls(self.calls)

    async def _new_call(self, request: CallRequest) -> CallOutcome:
        """Take a new call through limits, arguments and decision, and make it."""
        tool = self._tools.get(request.name)
        exceeded = self._counter.exceeded()
        if tool is None:
            return refused(request, "NameError", f"{request.name} is not a function that code may call")
        if exceeded:
            return refused(request, "RuntimeError", f"{request.name} was not called: the limit is {exceeded}")
        try:
            outline = await read_arguments(tool, request, unpack_outline, self._argument_bytes)
        except Exception as problem:  # noqa: BLE001  (they come from the sandbox: it gets to know whatever is wrong)
            return refused_arguments(request, problem)
        allowed = await self._decider.decide(tool, outline, request)
        if isinstance(allowed, CallOutcome):
            return allowed
        if not allowed.is_edited and request.arguments.kind == "parts":
            try:
                whole = await read_arguments(tool, request, unpack, self._argument_bytes)
            except Exception as problem:  # noqa: BLE001  (see above)
                return refused_arguments(request, problem)
            allowed = replace(allowed, arguments=whole)
        return await self._make_call(tool, allowed, request)

    async def _make_call(self, tool: Tool, allowed: AllowedCall, request: CallRequest) -> CallOutcome:
        """Make the call; record it once it has begun, however it ends."""
        call = ToolCall(
            tool=tool.name,
            call=allowed.text,
            status="stopped",
            kind=tool.stub.kind,
            line=request.line,
            result="it was stopped before it returned, and may have happened",
            decided_by=allowed.decided_by,
            id=uuid.uuid4().hex[:12],
            key=request.key,
        )
        if tool.stub.policy != "auto":
            self.on_call_start((*self.calls, call))
        started = time.monotonic()
        try:
            for_undo, value = await self._executor.make_call(tool, allowed.arguments)
            duration_s = time.monotonic() - started
            answer, text, kept = await self._results.for_code(tool, value)
        except TookTooLongError as problem:
            self._cut_short(tool, call)
            cut = replace(call, duration_s=time.monotonic() - started)
            return CallOutcome(answer=explained(TimeoutError(str(problem))), call=cut)
        except Exception as problem:  # noqa: BLE001  (the user's function can fail in any way: the code gets the error)
            answer = explained(problem)
            failed = replace(call, status="failed", duration_s=time.monotonic() - started)
            return CallOutcome(answer=answer, call=replace(failed, result=f"{answer.ename}: {answer.evalue}"))
        except asyncio.CancelledError:
            if self._executor.has_begun:
                self._cut_short(tool, call)
                self._note(call)
                self.of_run += (call,)
            raise
        self._unsure.discard(request.key)
        made = replace(call, status="ok", result=masked(text, ()), duration_s=duration_s, value=kept)
        self._keep_for_undo(tool, made, for_undo, value)
        return CallOutcome(answer=answer, call=made)

    def _keep_for_undo(self, tool: Tool, made: ToolCall, arguments: Mapping[str, Any], value: Any) -> None:
        if tool.undo is not None:
            self.done.append(DoneCall(call=made, tool=tool, arguments=arguments, result=value))
        elif tool.stub.policy != "auto":
            self.done.append(DoneCall(call=made, tool=tool, arguments={}, result=None))

    def _cut_short(self, tool: Tool, call: ToolCall) -> None:
        """Mark a call as unsure: nobody knows whether it happened. A call that only reads is made again."""
        if tool.stub.policy != "auto":
            self._unsure.add(call.key)
            self.done.append(DoneCall(call=call, tool=replace(tool, undo=None), arguments={}, result=None))


@dataclass(frozen=True)
class ToolRunner:
    """A `CodeRunner` whose code calls the tools of a broker."""

    runner: CallingRunner
    broker: ToolCallBroker

    async def execute(self, code: str, *, timeout_s: float) -> ExecutionResult:
        """Execute the code as `CodeRunner.execute` does; the result has the calls that it made."""
        self.broker.begin()
        result = await self.runner.execute(code, timeout_s=timeout_s, on_call=self.broker.answer)
        return replace(result, calls=self.broker.calls)
