"""The outcome of one call: the answer that the code gets, and the line for the record."""

from __future__ import annotations

import inspect
import uuid
from dataclasses import dataclass

from jupyter_codeagent.sandbox.tool_calls import CallAnswer, CallRequest
from jupyter_codeagent.tools.arguments import ArgumentError, call_text
from jupyter_codeagent.tools.exceptions import denied
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.approvals import DecidedBy
from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.types.sandbox import ToolCall
from jupyter_codeagent.variables.privacy.masking import masked


@dataclass(frozen=True, kw_only=True)
class CallOutcome:
    """The outcome of one call."""

    answer: CallAnswer
    call: ToolCall


def refused(request: CallRequest, ename: str, why: str) -> CallOutcome:
    """Return the outcome of a call that is refused without asking anybody."""
    call = ToolCall(tool=request.name, call=f"{request.name}(…)", status="refused", line=request.line, result=why)
    return CallOutcome(answer=CallAnswer(ename=ename, evalue=why), call=call)


def refused_arguments(request: CallRequest, problem: Exception) -> CallOutcome:
    """Return the outcome of a call whose arguments cannot be accepted."""
    if isinstance(problem, ArgumentError):
        return refused(request, "TypeError", str(problem))
    if isinstance(problem, RejectedDataError):
        return refused(request, "ValueError", str(problem))
    return refused(request, "ValueError", f"the arguments cannot be read: {type(problem).__name__}")


def denied_call(request: CallRequest, text: str, reason: str, decided_by: DecidedBy) -> CallOutcome:
    """Return the outcome of a call that the policy or a person denied."""
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
    return CallOutcome(answer=denied(reason), call=call)


def recorded_text(tool: Tool, bound: inspect.BoundArguments) -> str:
    """Return the text of the call for the record and the receipt: short, without secrets."""
    return masked(call_text(tool.name, bound).text, ())
