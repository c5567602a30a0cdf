"""One more execution that looks at the columns which a program compares with texts, for the rules that need it.

After a run the columns are looked at as they are now. Where the program failed or its result looks wrong, it runs
once more with a look before each statement that compares: what it filters by may be gone afterwards.
"""

from __future__ import annotations

from dataclasses import replace

from jupyter_codeagent.agent.dependencies import LoopDependencies
from jupyter_codeagent.agent.rules.registry import answer, probed_rules
from jupyter_codeagent.agent.rules.rule import Fix, Issue, Program, Rule, ValueMatch
from jupyter_codeagent.agent.rules.value_matching import probe_after, probe_inline, read_matches, without_personal
from jupyter_codeagent.types.run import AgentRun

FILTERED_ERRORS = frozenset({"KeyError", "IndexError", "ValueError", "ZeroDivisionError"})
"""What code runs into where a filter has left nothing."""


async def probe(run: AgentRun, program: Program, deps: LoopDependencies) -> Fix | Issue | None:
    """Ask the rules that need a probe; the last answer where none is a fix.

    Not at the privacy level that sends no values: a value would stand in the code, which the model reads.
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
    """Execute a probe, which nobody is asked about: it reads columns and nothing else."""
    matches = read_matches(await deps.runner.execute(code, timeout_s=run.request.timeout_s))
    return without_personal(
        matches, await deps.masked_values("\n".join(value for one in matches for value in one.found))
    )
