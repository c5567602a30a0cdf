"""Lines on tools: for the model before it writes, for the user after the run. Pure functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from jupyter_codeagent.models.tokens import estimate_tokens
from jupyter_codeagent.tools.broker import ToolCallBroker
from jupyter_codeagent.tools.mcp import is_of_server
from jupyter_codeagent.tools.registry import agent_tool
from jupyter_codeagent.tools.sql import sql_tool
from jupyter_codeagent.tools.tool import DocLength, Tool, stub_line
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.sandbox import ToolCall
from jupyter_codeagent.types.variables import Manifest, ToolStub

MAX_LINES = 20
MAX_DESCRIBED_TOKENS = 500
"""Budget of the lines of all functions if they have more of their docstrings than a sentence."""
MAX_TOKENS = 800
"""Budget of the lines of all functions; those that exceed both are found by `tools.search` while the code runs."""
MAX_LISTED = 3
ROWS = re.compile(r"(?:polars )?DataFrame (\d{1,9})x\d+(?:, ([\d,]+) rows scanned)?")
HEADING = "Functions you can call; they run outside and return data:"


def with_tools(manifest: Manifest, tools: Mapping[str, Tool]) -> Manifest:
    """Return the manifest with the stubs of these tools.

    Raises
    ------
    UsageError
        A variable that is copied has the name of a tool.
    """
    both = [copied.name for copied in manifest.copied if copied.name in tools]
    if both:
        raise UsageError(
            f"{both[0]!r} is a variable for the sandbox and a function that code may call: rename one of them, or "
            f"remove the function with `%agent tool remove {both[0]}`."
        )
    return replace(manifest, tools=tuple(tool.stub for tool in tools.values()))


def without_tools(variables: Mapping[str, Any], tools: Mapping[str, Tool]) -> dict[str, Any]:
    """Leave out the functions of these tools, which have lines of their own, and what declares them.

    Functions of a server that is gone are left out, too.
    """
    functions = {id(tool.function) for tool in tools.values()} | {id(agent_tool), id(sql_tool)}
    return {
        name: value
        for name, value in variables.items()
        if not (tools and id(value) in functions) and not is_of_server(value)
    }


def functions_text(stubs: Sequence[ToolStub]) -> str:
    """Return a line for each function that may be called, for the model; empty if there are none.

    The lines have as much of each docstring as the budget allows: all of it, its first paragraph or sentence.
    """
    allowed = [stub for stub in stubs if stub.policy != "deny" and stub.kind == "function"]
    if not allowed:
        return ""
    for length in get_args(DocLength):
        lines = [stub_line(stub, length) for stub in allowed]
        if estimate_tokens("\n".join(lines)) <= MAX_DESCRIBED_TOKENS:
            break
    fitting = next(count for count in range(min(len(lines), MAX_LINES), -1, -1) if _fits(lines[:count]))
    if fitting < len(lines):
        more = f"# and {len(lines) - fitting} more: print(tools.search('words')) lists those that match"
        return "\n".join((HEADING, *lines[:fitting], more))
    return "\n".join((HEADING, *lines))


def _fits(lines: Sequence[str]) -> bool:
    return not lines or estimate_tokens("\n".join(lines)) <= MAX_TOKENS


def recorded_calls(run: AgentRun | None) -> tuple[ToolCall, ...]:
    """Return the calls of the program that gave the run its result, each once."""
    step = run.steps[-1] if run is not None and run.steps else None
    return step.result.calls if step is not None and step.result is not None else ()


def replay_notes(broker: ToolCallBroker) -> tuple[str, ...]:
    """Return notes on the calls that got their result from the record, and on where the replay departed from it."""
    notes = []
    if broker.replayed:
        notes.append(f"not called again, results as recorded: {_listed(broker.replayed)}")
    made_again = broker.made_again()
    if missed := broker.not_replayed():
        notes.append(f"the replay did not make these recorded calls: {_listed(missed)}")
    if made_again and (missed or broker.replayed):
        notes.append(f"the replay made other calls than the record: {_listed(made_again)}")
    return tuple(notes)


def _listed(calls: Sequence[ToolCall]) -> str:
    listed = ", ".join(call.call for call in calls[:MAX_LISTED])
    return f"{listed} and {len(calls) - MAX_LISTED} more" if len(calls) > MAX_LISTED else listed


def calls_text(stub: ToolStub) -> str:
    """Return why code that uses a stub is not run again."""
    return "it calls a function of yours" if stub.kind == "function" else "it asks a database of yours"


def queries_note(stubs: Sequence[ToolStub], calls: Sequence[ToolCall]) -> str:
    """Return ``asked db: 2 queries, 336,776 rows scanned in 0.3 s, 17 returned``; replayed results do not count.

    Without how many were scanned, where the database does not tell: ``asked db: 1 query, 17 rows in 0.3 s``.
    """
    parts = []
    for stub in stubs:
        made = [
            call
            for call in calls
            if stub.kind != "function" and (call.tool, call.status) == (stub.name, "ok") and not call.earlier
        ]
        if made:
            found = [match for call in made if (match := ROWS.match(call.result))]
            rows = sum(int(match[1]) for match in found)
            scanned = sum(int(match[2].replace(",", "")) for match in found if match[2])
            queries = "1 query" if len(made) == 1 else f"{len(made)} queries"
            took = f"in {sum(call.duration_s for call in made):.1f} s"
            read = f"{scanned:,} rows scanned {took}, {rows:,} returned"
            parts.append(f"{stub.name}: {queries}, {read if scanned else f'{_rows(rows)} {took}'}")
    return f"asked {', '.join(parts)}" if parts else ""


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def calls_note(calls: Sequence[ToolCall]) -> str:
    """Return ``called weather 3 times, send_mail once (denied)``; replayed results do not count as calls."""
    counts = Counter((call.tool, call.status) for call in calls if not call.earlier)
    parts = [
        f"{tool} {'once' if count == 1 else f'{count} times'}{'' if status == 'ok' else f' ({status})'}"
        for (tool, status), count in counts.items()
    ]
    return f"called {', '.join(parts)}" if parts else ""
