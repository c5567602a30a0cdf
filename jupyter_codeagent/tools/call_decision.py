"""Whether one call may be made: by the tool's policy, by an approval of several calls, else by a person."""

from __future__ import annotations

import inspect
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from jupyter_codeagent.sandbox.tool_calls import CallRequest
from jupyter_codeagent.tools.arguments import ArgumentError, CallText, bind, call_text, parse_call
from jupyter_codeagent.tools.call_outcome import CallOutcome, denied_call, recorded_text, refused
from jupyter_codeagent.tools.exceptions import explained
from jupyter_codeagent.tools.grants import grant_of
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.approvals import DecidedBy, Decision, Proposal

PROPOSED_CHARS = 20_000


@dataclass(frozen=True, kw_only=True)
class AllowedCall:
    """A call that may be made."""

    arguments: inspect.BoundArguments
    """The arguments of the request in outline, or those that the person wrote in their place."""
    text: str
    """Text of the call for the record."""
    decided_by: DecidedBy = "policy"
    is_edited: bool = False


class CallDecider:
    """Decides over the calls of one run."""

    def __init__(
        self,
        run_id: str,
        decide: Callable[[Proposal], Awaitable[Decision]],
        unsure: set[str],
        estimate: Callable[[Tool, inspect.BoundArguments], Awaitable[str]],
    ) -> None:
        """Create the decider of one run.

        Parameters
        ----------
        unsure
            Keys of calls that began and never returned: no approval of several calls covers them.
        estimate
            Returns what a call is expected to take; raises what the call would raise.
        """
        self._estimate = estimate
        self._run_id = run_id
        self._decide = decide
        self._unsure = unsure
        self._allowed: Counter[str] = Counter()
        """Calls of a tool that an approval of several calls still covers."""
        self._allowed_by: dict[str, DecidedBy] = {}

    async def decide(
        self, tool: Tool, outline: inspect.BoundArguments, request: CallRequest
    ) -> AllowedCall | CallOutcome:
        """Return the call that may be made, or the outcome of one that may not.

        `outline` has its arguments in outline: no argument is unpacked before it may be used.
        """
        text = recorded_text(tool, outline)
        if tool.stub.policy == "deny":
            return denied_call(request, text, f"the user denies all calls of {tool.name}", "policy")
        if tool.stub.policy == "auto":
            return AllowedCall(arguments=outline, text=text)
        if self._allowed[tool.name] and request.key not in self._unsure:
            self._allowed[tool.name] -= 1
            return AllowedCall(arguments=outline, text=text, decided_by=self._allowed_by[tool.name])
        return await self._ask(tool, outline, text, request)

    async def _ask(
        self, tool: Tool, outline: inspect.BoundArguments, text: str, request: CallRequest
    ) -> AllowedCall | CallOutcome:
        try:
            expected = await self._estimate(tool, outline)
        except Exception as problem:  # noqa: BLE001  (of any database: the code gets to know it, and nobody is asked)
            answer = explained(problem)
            return refused(request, answer.ename, answer.evalue)
        decision = await self._decide(self._proposal(tool, outline, request, expected))
        decided_by = decision.decided_by
        if decision.action == "reject":
            why = f": {decision.reason}" if decision.reason else ""
            reason = f"the user rejected this call of {tool.name}{why}"
            return denied_call(request, text, reason, decided_by)
        arguments = outline
        if decision.edited:
            try:
                arguments = _edited(tool, outline, decision.code)
            except ArgumentError as problem:
                return refused(request, "TypeError", f"the user changed the call, but {problem}")
            text = recorded_text(tool, arguments)
        if decision.scope == "run":
            self._allowed[tool.name] = decision.calls - 1
            self._allowed_by[tool.name] = decided_by
        return AllowedCall(arguments=arguments, text=text, decided_by=decided_by, is_edited=decision.edited)

    def _proposal(
        self, tool: Tool, outline: inspect.BoundArguments, request: CallRequest, expected: str
    ) -> Proposal:
        at = f"Line {request.line} of the program" if request.line is not None else "The program"
        query = _plain_query(tool, outline)
        if tool.stub.kind == "function":
            what, calls = f"calls your function {tool.name}{tool.stub.signature}", "calls to it"
        else:
            what, calls = f"queries your database {tool.name}", "queries"
        code = CallText(text=query) if query else call_text(tool.name, outline, max_chars=PROPOSED_CHARS)
        together = f" It makes {request.together} {calls} at once." if request.together > 1 else ""
        in_brief = f" Not shown whole: {', '.join(code.in_brief)}." if code.in_brief else ""
        is_unsure = request.key in self._unsure
        if is_unsure:
            in_brief += " An earlier attempt at this call never returned: it may have happened already."
        return Proposal(
            id=uuid.uuid4().hex[:12],
            run_id=self._run_id,
            kind="query" if query else "call",
            code=code.text,
            note=" ".join(filter(None, [f"{at} {what}.{together}{in_brief}", expected])),
            calls=request.together,
            lasting=() if is_unsure else (grant_of(tool),),
        )


def _plain_query(tool: Tool, outline: inspect.BoundArguments) -> str:
    """Return the SQL of a query; empty for a call, and for text with characters that are not seen."""
    sql = outline.arguments.get("sql") if tool.stub.kind != "function" else None
    is_plain = isinstance(sql, str) and sql.replace("\n", " ").replace("\t", " ").isprintable()
    return str(sql) if is_plain else ""


def _edited(tool: Tool, outline: inspect.BoundArguments, text: str) -> inspect.BoundArguments:
    """Return the arguments that a person wrote in place of the proposed ones; raise ArgumentError."""
    return bind(tool, {"sql": text}) if _plain_query(tool, outline) else parse_call(tool, text)
