"""The calls of a replayed run: those that a person approved get their result from the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from jupyter_codeagent.sandbox.tool_calls import CallRequest
from jupyter_codeagent.tools.call_host import MainThread
from jupyter_codeagent.tools.call_outcome import CallOutcome
from jupyter_codeagent.tools.call_results import CallResults
from jupyter_codeagent.tools.result_record import restored
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.errors import RejectedDataError, VariableError
from jupyter_codeagent.types.sandbox import ToolCall


class RecordedCalls:
    """Recorded results; each is used once. Calls that only read are made again."""

    def __init__(self, tools: Mapping[str, Tool], recorded: Sequence[ToolCall]) -> None:
        self._tools = tools
        self._left = [call for call in recorded if call.status == "ok" and call.value is not None and call.id]
        self.replayed: tuple[ToolCall, ...] = ()
        """Calls whose result was used."""

    @property
    def left(self) -> tuple[ToolCall, ...]:
        """Those that could have given a result, and were not called."""
        return tuple(call for call in self._left if self.is_replayed(call.tool))

    def is_replayed(self, name: str) -> bool:
        """Return whether calls of this tool get their results from a record."""
        tool = self._tools.get(name)
        return tool is not None and tool.stub.policy == "ask"

    async def outcome(
        self, request: CallRequest, on_main_thread: MainThread, results: CallResults
    ) -> CallOutcome | None:
        """Return the recorded outcome of a call; None if there is none, or its result cannot be restored.

        The result may be damaged, too large for what is left, or of a library that is no longer installed.
        """
        if not self.is_replayed(request.name):
            return None
        same = (call for call in self._left if (call.tool, call.key) == (request.name, request.key))
        known = next(same, None)
        if known is None or (kept := known.value) is None:
            return None
        try:
            answer, _ = await on_main_thread(lambda: results.answer(request.name, restored(kept)))
        except (RejectedDataError, VariableError, ImportError):
            return None
        self._left.remove(known)
        call = replace(known, line=request.line, earlier=True)
        self.replayed += (call,)
        return CallOutcome(answer=answer, call=call)
