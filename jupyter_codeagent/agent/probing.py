"""Run a program's comparisons once more to see the values of the columns, for the rules that need them.

After a run the columns are read as they are then. Where the program failed or its result looks wrong, it runs once
more with a probe before each statement that compares: what it filters by may be gone afterwards.
"""

from __future__ import annotations

from dataclasses import replace

from jupyter_codeagent.agent.dependencies import LoopDependencies
from jupyter_codeagent.agent.rules.registry import answer, probed_rules
from jupyter_codeagent.agent.rules.rule import Fix, Issue, Program, Rule, ValueMatch
from jupyter_codeagent.agent.rules.value_matching import probe_after, probe_inline, read_matches, without_personal
from jupyter_codeagent.types.run import AgentRun

FILTERED_ERRORS = frozenset({"KeyError", "IndexError", "ValueError", "ZeroDivisionError"})
"""Errors that code raises where a filter has left nothing."""


async def probe(run: AgentRun, program: Program, deps: LoopDependencies) -> Fix | Issue | None:
    """Ask the rules that need a probe; return the first fix, else the last answer.

    Not at the privacy level `schema`: a value would get into the code, which the model reads.
    """
    result = program.result
    if result is None or run.request.privacy == "schema" or (result.error is None and result.status != "ok"):
        return None
    found = None
    for rule in probed_rules():
        found = await _answer(run, rule, program, deps)
        if isinstance(found, Fix):
            break
    return found


async def _answer(run: AgentRun, rule: Rule, program: Program, deps: LoopDependencies) -> Fix | Issue | None:
    assert program.result is not None
    found: Fix | Issue | None = None
    if program.result.status == "ok" and (code := probe_after(program)):
        found = answer(rule, replace(program, matches=await _matches(code, run, deps)))
    is_filtered = bool(program.issue) or program.error.ename in FILTERED_ERRORS
    if not isinstance(found, Fix) and is_filtered and (code := probe_inline(program)):
        deps.undo_attempt()
        found = answer(rule, replace(program, matches=await _matches(code, run, deps)))
    return found


async def _matches(code: str, run: AgentRun, deps: LoopDependencies) -> tuple[ValueMatch, ...]:
    """Execute a probe; it needs no approval, because it reads columns and nothing else."""
    matches = read_matches(await deps.runner.execute(code, timeout_s=run.request.timeout_s))
    return without_personal(
        matches, await deps.masked_values("\n".join(value for one in matches for value in one.found))
    )
