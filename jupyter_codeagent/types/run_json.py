"""A run as JSON and back: what history stores, `--json` prints and the panel shows."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar

from jupyter_codeagent.types import approvals, messages, operations, run, sandbox, variables
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.sandbox import ToolCall

Value = TypeVar("Value")
TYPE_MODULES = (messages, variables, operations, sandbox, approvals, run)


def run_to_json(run: AgentRun) -> dict[str, Any]:
    """Return the whole record, with every message that was sent."""
    return dataclasses.asdict(run)


def run_from_json(record: dict[str, Any]) -> AgentRun:
    """Return the run of a record, as the inverse of `run_to_json`.

    Unknown keys are ignored, so that older code reads newer records.

    Raises
    ------
    TypeError
        If a required field is missing.
    """
    return value_from_json(AgentRun, record)


def run_view(run: AgentRun) -> dict[str, Any]:
    """Return the record for a page: without the messages of each step, the tools and the results of calls.

    `model_calls` has the kinds of user data in the messages; the notes of an ended run name what was left out.
    """
    record = run_with_messages(run)
    for step in record["steps"]:
        del step["messages"], step["prefill_spans"], step["left_out"], step["rules"]
    del record["manifest"]["tools"], record["context_spans"]
    return record


def run_with_messages(run: AgentRun) -> dict[str, Any]:
    """Return the record for a page that displays what was sent: without the results of calls, for replays."""
    record = run_to_json(run)
    del record["written"]  # the reply contains it
    for step in record["steps"]:
        del step["written"]
        if step["result"] is not None:
            del step["result"]["operations"]  # those of the program that was kept are the run's
            for call in step["result"]["calls"]:
                _without_replay_data(call)
    return record


def call_view(call: ToolCall) -> dict[str, Any]:
    """Return a call as the panel displays it, in the run's record and while the run continues."""
    return _without_replay_data(dataclasses.asdict(call))


def _without_replay_data(call: dict[str, Any]) -> dict[str, Any]:
    del call["key"], call["value"]
    return call


def value_from_json(kind: type[Value], record: dict[str, Any]) -> Value:
    """Return the value of one of the types of a run; unknown keys are ignored."""
    hints = _hints(typing.cast("Any", kind))
    known = {name: _convert(hints[name], item) for name, item in record.items() if name in hints}
    return kind(**known)


@cache
def _hints(kind: Hashable) -> dict[str, Any]:
    names = {name: value for module in TYPE_MODULES for name, value in vars(module).items()}
    return typing.get_type_hints(typing.cast("type", kind), names)


def _convert(hint: Any, item: Any) -> Any:
    if isinstance(hint, types.UnionType):
        parts = [part for part in hint.__args__ if _holds(part, item)]
        return _convert(parts[0], item) if parts else item
    if isinstance(hint, type) and dataclasses.is_dataclass(hint) and isinstance(item, dict):
        return value_from_json(hint, item)
    if typing.get_origin(hint) is tuple and isinstance(item, list | tuple):
        inner = typing.get_args(hint)
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(_convert(inner[0], part) for part in item)
        return tuple(_convert(part_hint, part) for part_hint, part in zip(inner, item, strict=True))
    return item


def _holds(hint: Any, item: Any) -> bool:
    """Check whether a type has an object or a list of JSON as its form."""
    if isinstance(item, dict):
        return dataclasses.is_dataclass(hint)
    return isinstance(item, list | tuple) and typing.get_origin(hint) is tuple
