"""The calls of one run: each is counted, decided, made in the live kernel, answered and recorded."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import signal
import threading
import time
import uuid
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from jupyter_codeagent.sandbox.data.unpack import Part, unpack, unpack_outline
from jupyter_codeagent.sandbox.protocol import CallingRunner
from jupyter_codeagent.sandbox.tool_calls import CallAnswer, CallRequest
from jupyter_codeagent.tools.arguments import ArgumentError, bind, call_text, parse_call
from jupyter_codeagent.tools.exceptions import denied, explained
from jupyter_codeagent.tools.grants import grant_of
from jupyter_codeagent.tools.preview import brief
from jupyter_codeagent.tools.recorded import MAX_BYTES, MAX_TEXT_CHARS, recorded, restored
from jupyter_codeagent.tools.records import PLAIN, folded, unfolded
from jupyter_codeagent.tools.timeouts import TookTooLongError, ended_by_signals, ended_in_time
from jupyter_codeagent.tools.tool import VARIADIC, Tool
from jupyter_codeagent.tools.undo import DoneCall
from jupyter_codeagent.types.approvals import DecidedBy, Decision, Proposal
from jupyter_codeagent.types.errors import RejectedDataError, VariableError
from jupyter_codeagent.types.rust_panics import panics_as_errors
from jupyter_codeagent.types.sandbox import ExecutionResult, Output, RecordedValue, ToolCall
from jupyter_codeagent.types.variables import CopiedVariable
from jupyter_codeagent.variables.privacy.masking import masked

MAX_PLAIN_BYTES = 64 << 10
"""Of a result that goes as JSON; what is larger, or no plain value, goes as a copy."""
READ_AT_ONCE_BYTES = 10_000
"""Of arguments; larger ones, which would hold up the loop, get a thread."""
PROPOSED_CHARS = 20_000
ENDS_MORE = (SystemExit, asyncio.CancelledError, StopIteration)
"""Of a function: `sys.exit()` would end the run, and a future can carry no StopIteration."""
Result = TypeVar("Result")


class MainThread(Protocol):
    """`BackgroundLoop.on_main_thread`: where the user's objects are, while the cell waits."""

    async def __call__(self, call: Callable[[], Result]) -> Result: ...


class UsersLoop(Protocol):
    """Where coroutines of the user's run: on a loop that may stand still without anything of ours doing so."""

    async def __call__(self, coroutine: Coroutine[Any, Any, Result]) -> Result: ...


class Spool(Protocol):
    """Where copies of results are laid down for the sandbox."""

    def write(self, name: str, value: Any, max_bytes: int) -> CopiedVariable: ...

    def discard(self, copy: CopiedVariable) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Host:
    """What of the user's kernel is needed for calls."""

    on_main_thread: MainThread
    on_users_loop: UsersLoop
    spool: Spool


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Of one run."""

    argument_bytes: int
    """Of one call."""
    result_bytes: int
    """Of all results that are copied."""
    calls: int = 1000
    calls_per_cell: int = 100
    """Of one execution."""


@dataclass(frozen=True, kw_only=True)
class _Made:
    answer: CallAnswer
    call: ToolCall


class ToolCallBroker:
    """One execution at a time: `begin`, then `answer` for each call, on the background loop.

    A call that was made or denied in this run is not made or asked again: programs are run again, corrected, and
    what they have called has happened. Its result is given again, as many times as it was called. So it is with
    calls of an earlier run that is replayed, if a person said yes to them: what only reads is called again.
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
        """`unsure` are keys of calls that began and never returned, in any run: no yes to several covers one of
        them. More are added to it. `recorded` are the calls of the run that is replayed.
        """
        self._tools = tools
        self._run_id = run_id
        self._decide = decide
        self._unsure = set() if unsure is None else unsure
        self._on_main_thread, self._on_users_loop = host.on_main_thread, host.on_users_loop
        self._spool = host.spool
        self._limits = limits
        self.told: Callable[[tuple[ToolCall, ...]], None] = lambda _: None
        """Hears of the calls of the present execution, after each."""
        self.begins: Callable[[tuple[ToolCall, ...]], None] = lambda _: None
        """Hears of them, and of one more that does more than read before it can happen: it is on disk then."""
        self._one_at_a_time = asyncio.Lock()
        self._made: dict[str, list[_Made]] = {}
        self._given: Counter[str] = Counter()
        self._allowed: Counter[str] = Counter()
        """Calls of a tool that are still within a yes to several."""
        self._allowed_by: dict[str, DecidedBy] = {}
        self._has_begun = False
        """The function of the present call."""
        self._copies: list[CopiedVariable] = []
        self._copied_bytes = 0
        self._count = self._count_of_run = 0
        self._is_calling = False
        self.calls: tuple[ToolCall, ...] = ()
        """Of the present execution, in the order in which they ended."""
        self.of_run: tuple[ToolCall, ...] = ()
        """Those that were made, or denied, in the whole run."""
        self.done: list[DoneCall] = []
        """Those that did more than read, in order, with what their `undo` needs where they have one."""
        self._recorded = [call for call in recorded if call.status == "ok" and call.value is not None and call.id]
        self._record_left_chars = MAX_TEXT_CHARS
        self.replayed: tuple[ToolCall, ...] = ()
        """Those that got their result from the record."""

    def begin(self) -> None:
        """An execution begins."""
        self._note()
        self._given.clear()
        self._count = 0

    def interrupt(self) -> None:
        """End the function that runs on the main thread, as Ctrl+C does. From any thread."""
        main = threading.main_thread().ident
        if self._is_calling and main is not None:
            signal.pthread_kill(main, signal.SIGINT)

    def close(self) -> None:
        """The run is over: copies of results are removed."""
        for copied in self._copies:
            self._spool.discard(copied)
        self._copies.clear()

    async def answer(self, request: CallRequest) -> CallAnswer:
        """What the sandbox gets. Raises only for faults of ours."""
        async with self._one_at_a_time:
            self._given[request.key] += 1
            earlier = self._made.get(request.key, [])
            if len(earlier) >= self._given[request.key]:
                known = earlier[self._given[request.key] - 1]
                self._note(replace(known.call, line=request.line, earlier=True))
                return known.answer
            made = await self._from_record(request) or await self._new_call(request)
            self._note(made.call)
            if made.call.status in ("ok", "denied"):
                self._made.setdefault(request.key, []).append(made)
            if made.call.status in ("ok", "denied", "stopped"):
                self.of_run += (made.call,)
            return made.answer

    def _note(self, call: ToolCall | None = None) -> None:
        """One more, or that there are none yet."""
        self.calls = (*self.calls, call) if call is not None else ()
        self.told(self.calls)

    def not_replayed(self) -> tuple[ToolCall, ...]:
        """Recorded calls that the replay could have given a result and did not make: it went another way."""
        return tuple(call for call in self._recorded if self._is_replayed(call.tool))

    def made_anew(self) -> tuple[ToolCall, ...]:
        """Calls of the kind that a replay gives results to, which were made or denied all the same."""
        return tuple(call for call in self.of_run if not call.earlier and self._is_replayed(call.tool))

    def _is_replayed(self, name: str) -> bool:
        tool = self._tools.get(name)
        return tool is not None and tool.stub.policy == "ask"

    async def _from_record(self, request: CallRequest) -> _Made | None:
        if not self._is_replayed(request.name):
            return None
        for known in self._recorded:
            if (known.tool, known.key) == (request.name, request.key) and known.value is not None:
                kept = known.value
                break
        else:
            return None
        try:
            answer, _ = await self._on_main_thread(lambda: self._packed(known.tool, restored(kept)))
        except (RejectedDataError, VariableError, ImportError):
            # Damaged, too large for what is left, or of a library that is gone: it is asked for and made.
            return None
        self._recorded.remove(known)
        call = replace(known, line=request.line, earlier=True)
        self.replayed += (call,)
        return _Made(answer=answer, call=call)

    async def _new_call(self, request: CallRequest) -> _Made:
        tool = self._tools.get(request.name)
        self._count += 1
        self._count_of_run += 1
        if tool is None:
            return _refused(request, "NameError", f"{request.name} is no function that the user lets code call")
        limits = self._limits
        if self._count > limits.calls_per_cell or self._count_of_run > limits.calls:
            limit = (
                f"{limits.calls_per_cell} calls of a cell (CodeAgent.max_calls_per_cell)"
                if self._count > limits.calls_per_cell
                else f"{limits.calls} calls of a run (CodeAgent.max_calls)"
            )
            return _refused(request, "RuntimeError", f"{request.name} was not called: {limit} are the limit")
        try:
            bound = await self._bound(tool, request, unpack_outline)
        except Exception as problem:  # noqa: BLE001  (they come from the sandbox: whatever is wrong is told to it)
            return _refused(request, *_reason(problem))
        return await self._decided(tool, bound, request)

    async def _bound(self, tool: Tool, request: CallRequest, read: Callable[..., Part]) -> inspect.BoundArguments:
        """The arguments by `unpack_outline`, for people who decide, or by `unpack`, for the function.

        Raises
        ------
        ArgumentError, RejectedDataError
        """
        packed, max_bytes = request.arguments, self._limits.argument_bytes
        if len(packed.meta_json) + len(packed.data) <= READ_AT_ONCE_BYTES:
            arguments, _ = read(packed, max_bytes=max_bytes)
        else:
            arguments, _ = await asyncio.to_thread(read, packed, max_bytes=max_bytes)
        if not isinstance(arguments, dict) or not all(isinstance(name, str) for name in arguments):
            raise RejectedDataError("The arguments are not given by name.")
        return bind(tool, arguments)

    async def _decided(self, tool: Tool, bound: inspect.BoundArguments, request: CallRequest) -> _Made:
        """`bound` is in outline: nothing of an argument is unpacked before it may be used."""
        decided_by: DecidedBy = "policy"
        shown, is_edited = _shown(tool, bound), False
        if tool.stub.policy == "deny":
            reason = f"the user does not let code call {tool.name}"
            return _denied(request, shown, reason, decided_by)
        is_asked = tool.stub.policy == "ask"
        if is_asked and self._allowed[tool.name] and request.key not in self._unsure:
            self._allowed[tool.name] -= 1
            decided_by = self._allowed_by[tool.name]
        elif is_asked:
            decision = await self._decide(self._proposal(tool, bound, request))
            decided_by = decision.decided_by
            if decision.action == "reject":
                reason = f"the user does not allow this call of {tool.name}" + (
                    f": {decision.reason}" if decision.reason else ""
                )
                return _denied(request, shown, reason, decided_by)
            if is_edited := decision.edited:
                try:
                    bound = parse_call(tool, decision.code)
                except ArgumentError as problem:
                    return _refused(request, "TypeError", f"the user changed the call, but {problem}")
                shown = _shown(tool, bound)
            if decision.scope == "run":
                self._allowed[tool.name] = decision.calls - 1
                self._allowed_by[tool.name] = decided_by
        if not is_edited and request.arguments.kind == "parts":
            try:
                bound = await self._bound(tool, request, unpack)
            except Exception as problem:  # noqa: BLE001  (see above)
                return _refused(request, *_reason(problem))
        return await self._call(tool, bound, request, shown, decided_by)

    def _proposal(self, tool: Tool, bound: inspect.BoundArguments, request: CallRequest) -> Proposal:
        at = f"line {request.line} of the program calls" if request.line is not None else "the program calls"
        code = call_text(tool.name, bound, max_chars=PROPOSED_CHARS)
        together = f" It makes {request.together} calls of it in one go." if request.together > 1 else ""
        in_brief = f" Not shown whole: {', '.join(code.in_brief)}." if code.in_brief else ""
        is_unsure = request.key in self._unsure
        if is_unsure:
            in_brief += " This call began once before and never returned: it may have happened already."
        return Proposal(
            id=uuid.uuid4().hex[:12],
            run_id=self._run_id,
            kind="call",
            code=code.text,
            note=f"{at[:1].upper()}{at[1:]} your function {tool.name}{tool.stub.signature}.{together}{in_brief}",
            calls=request.together,
            lasting=() if is_unsure else (grant_of(tool),),
        )

    async def _call(
        self, tool: Tool, bound: inspect.BoundArguments, request: CallRequest, shown: str, decided_by: DecidedBy
    ) -> _Made:
        """On the main thread; a coroutine on a loop. Whatever comes of it, what has begun is recorded."""
        call = ToolCall(
            tool=tool.name,
            call=shown,
            status="stopped",
            line=request.line,
            result="it was ended before it had returned, and may have happened",
            decided_by=decided_by,
            id=uuid.uuid4().hex[:12],
            key=request.key,
        )
        if tool.stub.policy != "auto":
            self.begins((*self.calls, call))
        self._has_begun = False
        started = time.monotonic()
        try:
            arguments, value = await self._returned(tool, bound)
            duration_s = time.monotonic() - started
            answer, text, kept = await self._for_code(tool, value)
        except TookTooLongError as problem:
            answer = explained(TimeoutError(str(problem)))
            self._cut_short(tool, call)
            return _Made(answer=answer, call=replace(call, duration_s=time.monotonic() - started))
        except Exception as problem:  # noqa: BLE001  (the user's function can fail in any way: the code is told)
            answer = explained(problem)
            failed = replace(call, status="failed", duration_s=time.monotonic() - started)
            return _Made(answer=answer, call=replace(failed, result=f"{answer.ename}: {answer.evalue}"))
        except asyncio.CancelledError:
            if self._has_begun:
                self._cut_short(tool, call)
                self._note(call)
                self.of_run += (call,)
            raise
        self._unsure.discard(request.key)
        made = replace(call, status="ok", result=masked(text, ()), duration_s=duration_s, value=kept)
        if tool.undo is not None:
            self.done.append(DoneCall(call=made, tool=tool, arguments=arguments, result=value))
        elif tool.stub.policy != "auto":
            self.done.append(DoneCall(call=made, tool=tool, arguments={}, result=None))
        return _Made(answer=answer, call=made)

    def _cut_short(self, tool: Tool, call: ToolCall) -> None:
        """Whether it has happened nobody knows; what only reads is just called again."""
        if tool.stub.policy != "auto":
            self._unsure.add(call.key)
            self.done.append(DoneCall(call=call, tool=replace(tool, undo=None), arguments={}, result=None))

    async def _returned(self, tool: Tool, bound: inspect.BoundArguments) -> tuple[Mapping[str, Any], Any]:
        """What `undo` needs of the arguments, and what the function returned; what it raises."""
        if tool.coroutine is None:
            return await self._on_main_thread(lambda: self._called(tool, bound))
        self._has_begun = True
        called = _awaited(tool, tool.coroutine, bound)
        # A user's own coroutine may hold up its loop; those of ours, which talk to servers, do not.
        running = self._on_users_loop(called) if tool.coroutine is tool.function else called
        return await ended_in_time(tool.name, tool.timeout_s, running)

    def _called(self, tool: Tool, bound: inspect.BoundArguments) -> tuple[Mapping[str, Any], Any]:
        """Main thread."""
        self._is_calling = self._has_begun = True
        try:
            with panics_as_errors(), ended_by_signals(tool.name, tool.timeout_s):
                for_undo = _for_undo(tool, bound)
                arguments = _as_annotated(tool, bound)
                value = tool.function(*arguments.args, **arguments.kwargs)
            return for_undo, value
        except ENDS_MORE as problem:
            raise RuntimeError(f"{tool.name} was ended by {type(problem).__name__}") from problem
        finally:
            self._is_calling = False

    async def _for_code(self, tool: Tool, value: Any) -> tuple[CallAnswer, str, RecordedValue | None]:
        """See `_given_back`; an error in its place where the code cannot have the value: the call was made."""
        try:
            if type(value) in PLAIN:  # cannot change: the main thread need not stop once more
                return self._given_back(tool, value)
            return await self._on_main_thread(lambda: self._given_back(tool, unfolded(value)))
        except VariableError as problem:
            why = str(problem)
        except Exception as problem:  # noqa: BLE001  (code of the value's own class)
            why = f"{tool.name} was called, but code cannot have its result: {explained(problem).evalue}"
        return CallAnswer(ename="RuntimeError", evalue=why), why, None

    def _given_back(self, tool: Tool, value: Any) -> tuple[CallAnswer, str, RecordedValue | None]:
        """What goes to the code, what is told of it, and what the record keeps. Main thread."""
        answer, text = self._packed(tool.name, value)
        is_small = answer.copy is None or answer.copy.size_bytes <= MAX_BYTES
        # A replay makes the other calls again, which only read.
        kept = recorded(value, self._record_left_chars) if tool.stub.policy == "ask" and is_small else None
        if kept is not None:
            self._record_left_chars -= len(kept.meta_json) + len(kept.data)
        return answer, text, kept

    def _packed(self, name: str, value: Any) -> tuple[CallAnswer, str]:
        """What goes to the code, and what is told of it. Main thread."""
        if is_plain(value) and len(json.dumps(value)) <= MAX_PLAIN_BYTES:
            return CallAnswer(value=value), brief(value)
        copied = self._spool.write(f"{name}()", value, self._limits.result_bytes - self._copied_bytes)
        self._copies.append(copied)
        self._copied_bytes += copied.size_bytes
        return CallAnswer(copy=copied), brief(value)


@dataclass(frozen=True)
class ToolRunner:
    """A `CodeRunner` whose code calls the tools of a desk."""

    runner: CallingRunner
    desk: ToolCallBroker

    async def execute(
        self, code: str, *, timeout_s: float, on_output: Callable[[Output], None] | None = None
    ) -> ExecutionResult:
        """See `CodeRunner.execute`; the result tells which calls there were."""
        self.desk.begin()
        result = await self.runner.execute(code, timeout_s=timeout_s, on_output=on_output, on_call=self.desk.answer)
        return replace(result, calls=self.desk.calls)


def is_plain(value: object) -> bool:
    """Whether JSON gives back the same value, types included."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return True
    if kind is float:
        return True  # Python's JSON has words for what is not finite
    if kind is list:
        return all(is_plain(item) for item in value)  # type: ignore[attr-defined]
    if kind is dict:
        return all(type(key) is str and is_plain(item) for key, item in value.items())  # type: ignore[attr-defined]
    return False


def _as_annotated(tool: Tool, bound: inspect.BoundArguments) -> inspect.BoundArguments:
    """Records where the function wants them; people saw dicts. Raises what the classes raise."""
    arguments = {name: folded(value, tool.hints.get(name)) for name, value in bound.arguments.items()}
    return inspect.BoundArguments(tool.signature, OrderedDict(arguments))


async def _awaited(
    tool: Tool, coroutine: Callable[..., Awaitable[Any]], bound: inspect.BoundArguments
) -> tuple[Mapping[str, Any], Any]:
    for_undo = _for_undo(tool, bound)
    arguments = _as_annotated(tool, bound)
    try:
        with panics_as_errors():
            return for_undo, await coroutine(*arguments.args, **arguments.kwargs)
    except (SystemExit, KeyboardInterrupt) as problem:
        raise RuntimeError(f"{tool.name} was ended by {type(problem).__name__}") from problem


def _for_undo(tool: Tool, bound: inspect.BoundArguments) -> Mapping[str, Any]:
    """Arguments as they were before the call, by name; none where no `undo` needs them."""
    if tool.undo is None:
        return {}
    copied = inspect.BoundArguments(tool.signature, OrderedDict(copy.deepcopy(bound.arguments)))
    return _all_named(_as_annotated(tool, copied))


def _shown(tool: Tool, bound: inspect.BoundArguments) -> str:
    return masked(call_text(tool.name, bound).text, ())


def _denied(request: CallRequest, text: str, reason: str, decided_by: DecidedBy) -> _Made:
    call = ToolCall(
        tool=request.name,
        call=text,
        status="denied",
        line=request.line,
        result=masked(reason, ()),
        decided_by=decided_by,
        id=uuid.uuid4().hex[:12],
        key=request.key,
    )
    return _Made(answer=denied(reason), call=call)


def _all_named(bound: inspect.BoundArguments) -> dict[str, Any]:
    """What was given and what was left to its default, by name."""
    whole = inspect.BoundArguments(bound.signature, OrderedDict(bound.arguments))
    whole.apply_defaults()
    kinds = {parameter.name: parameter.kind for parameter in bound.signature.parameters.values()}
    named = {name: value for name, value in whole.arguments.items() if kinds[name] not in VARIADIC}
    return named | {key: value for key, value in bound.kwargs.items() if key not in named}


def _reason(problem: Exception) -> tuple[str, str]:
    """Why arguments were refused: the name of a built-in exception, and its message."""
    if isinstance(problem, ArgumentError):
        return "TypeError", str(problem)
    if isinstance(problem, RejectedDataError):
        return "ValueError", str(problem)
    return "ValueError", f"the arguments cannot be read: {type(problem).__name__}"


def _refused(request: CallRequest, ename: str, why: str) -> _Made:
    call = ToolCall(tool=request.name, call=f"{request.name}(…)", status="refused", line=request.line, result=why)
    return _Made(answer=CallAnswer(ename=ename, evalue=why), call=call)
