"""Calls of a run undone, newest first, by the functions that the user gave for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.sandbox import ToolCall


@dataclass(frozen=True, kw_only=True)
class DoneCall:
    """A call that was made, with what its `undo` needs if it has one."""

    call: ToolCall
    tool: Tool
    arguments: Mapping[str, Any]
    result: Any


@dataclass(frozen=True, kw_only=True)
class Undone:
    """The outcome of undoing calls."""

    undone: tuple[ToolCall, ...] = ()
    left: tuple[ToolCall, ...] = ()
    """Calls without an `undo`; calls that only read are not among them."""
    problem: str = ""
    """Why it ended early: the call, and the error of its `undo`."""


def undo_calls(done: list[DoneCall], undone: list[ToolCall]) -> Undone:
    """Undo calls, the last first, until an `undo` raises: earlier calls may depend on later ones. Main thread only.

    Each call moves from `done` to `undone` as it is undone: none is undone twice, whatever ends this early.
    """
    for one in reversed(done.copy()):
        if one.tool.undo is None:
            continue
        try:
            one.tool.undo(one.result, **one.arguments)
        except Exception as problem:  # noqa: BLE001  (the user's function can fail in any way: they get the error)
            why = f"{one.call.call} was not undone: {type(problem).__name__}: {problem}"
            return Undone(undone=tuple(undone), left=_without_undo(done), problem=why)
        done.remove(one)
        undone.append(one.call)
    return Undone(undone=tuple(undone), left=_without_undo(done))


def with_undone(run: AgentRun, calls: Sequence[ToolCall]) -> AgentRun:
    """Return the record with these calls marked as undone."""
    ids = {call.id for call in calls}

    def marked(call: ToolCall) -> ToolCall:
        return replace(call, status="undone") if call.id in ids else call

    steps = tuple(
        replace(step, result=replace(step.result, calls=tuple(map(marked, step.result.calls))))
        if step.result is not None
        else step
        for step in run.steps
    )
    return replace(run, steps=steps)


def undone_text(found: Undone) -> str:
    """Return a line for each call."""
    lines = [f"undone: {call.call}" for call in found.undone]
    lines += [f"has no undo: {call.call}" for call in found.left]
    return "\n".join([*lines, *([found.problem] if found.problem else [])]) or "There was nothing to undo."


def _without_undo(done: Sequence[DoneCall]) -> tuple[ToolCall, ...]:
    return tuple(one.call for one in done if one.tool.undo is None)
