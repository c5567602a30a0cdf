"""Earlier runs as turns of later prompts; pure functions.

What was sent to one server is not sent to another one that is remote. Code and results are in a prompt only if its
privacy is not stricter than the one under which they were made.
"""

from __future__ import annotations

from collections.abc import Collection

from jupyter_codeagent.agent.output_text import cut, output_text
from jupyter_codeagent.agent.prompt.changes import format_variable
from jupyter_codeagent.agent.prompt.conversation import MAX_RESULT_CHARS, Turn
from jupyter_codeagent.agent.source import bound_names, parse
from jupyter_codeagent.explore.table_part import table_part
from jupyter_codeagent.types.run import NO_MODEL, AgentRun
from jupyter_codeagent.types.sandbox import ExecutionResult
from jupyter_codeagent.types.variables import PRIVACY_ORDER

MAX_MADE = 8
"""Variables of one earlier run that are in the prompt again."""


def turn_of(run: AgentRun, known: AgentRun, defined: Collection[str] = ()) -> Turn:
    """Return an earlier run as a turn in the prompt of this one."""
    return Turn(
        prompt=known.request.prompt,
        code=_code_for(run, known),
        ran=known.code,
        written=known.written,
        answer=_result_for(run, known),
        made=_made_for(run, known, defined),
    )


def may_include(run: AgentRun, known: AgentRun) -> bool:
    """Return whether an earlier run may be in the prompt of this one: not, if another server answered it."""
    return not (run.request.remote and known.request.server != run.request.server)


def _code_for(run: AgentRun, known: AgentRun) -> str:
    """Return the code that the prompt may have: corrections of it are made from values of the data.

    Of a template's program it has the part that makes the table, unless the question is to change its chart.
    """
    if _is_stricter(run, known):
        return ""
    code = known.written if run.request.privacy == "schema" else known.code
    is_refined = run.request.refines == known.id
    return table_part(code) if known.request.model == NO_MODEL and not is_refined else code


def _result_for(run: AgentRun, known: AgentRun) -> str:
    """Return the result that the prompt may have."""
    allowed = run.request.privacy != "schema" and not _is_stricter(run, known)
    return (known.answer or displayed_text(known)) if allowed else ""


def _is_stricter(run: AgentRun, known: AgentRun) -> bool:
    now, then = (PRIVACY_ORDER.index(one.request.privacy) for one in (run, known))
    return then > now


def _made_for(run: AgentRun, known: AgentRun, defined: Collection[str]) -> tuple[str, ...]:
    """Return names and types of variables; columns only if results may be sent: a pivot table's are made of values.

    Under `schema` only variables that the model itself named are included: code can give variables any names.
    """
    left = [entry for entry in known.made if entry.name in defined]
    if _is_stricter(run, known):
        return ()
    if run.request.privacy != "schema":
        return tuple(format_variable(entry) for entry in left[:MAX_MADE])
    tree = parse(known.written)
    named = bound_names(tree) if tree is not None else set()
    return tuple(format_variable(entry, names_only=True) for entry in left if entry.name in named)[:MAX_MADE]


def displayed_text(run: AgentRun) -> str:
    """Return the beginning and the end of what a run displayed."""
    return cut(output_text(ExecutionResult(status="ok", outputs=run.outputs)), MAX_RESULT_CHARS)
