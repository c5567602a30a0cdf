"""Replay: Run All asks the model only where something changed; the other cells' code runs from the record.

The sandbox needs the variables that the code makes, so it is executed; only the model is not asked. An answer that
the user kept is also replayed on other data (a column was hidden, a table has grown) if it comes out the same.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from jupyter_codeagent.agent.dependencies import Decide, RunWatcher
from jupyter_codeagent.agent.ending import with_result
from jupyter_codeagent.agent.output_text import output_text
from jupyter_codeagent.sandbox.protocol import CodeRunner
from jupyter_codeagent.session.given_code import run_given_code
from jupyter_codeagent.types.run import KEPT_STATES, NO_MODEL, AgentRun
from jupyter_codeagent.types.sandbox import ExecutionResult


def is_same_question(known: AgentRun, run: AgentRun) -> bool:
    """Check whether prompt, model, house rules and the description of the variables are the same.

    The data is compared by its digest. Records of older versions have only the text that was sent.
    """
    if not _is_asked_alike(known, run):
        return False
    if known.request.model == NO_MODEL:  # which was told nothing: the data alone decides
        return True
    if known.described_sha256:
        return known.described_sha256 == run.described_sha256
    return (known.context, known.house_rules) == (run.context, run.house_rules)


def is_kept_answer(known: AgentRun, run: AgentRun) -> bool:
    """Check whether the user kept this answer to the same prompt, under the same settings; the data may differ.

    Code that called functions is left out: if the answer is not used after all, the calls were made in vain.
    """
    if known.cell_state not in KEPT_STATES or known.manifest.tools or run.manifest.tools:
        return False
    told = (known.request.charts, known.house_rules) == (run.request.charts, run.house_rules)
    return _is_asked_alike(known, run) and (told or known.request.model == NO_MODEL)


def _is_asked_alike(known: AgentRun, run: AgentRun) -> bool:
    """Check whether the prompt is the same, and of a model's answer model and privacy, too."""
    before, now = known.request, run.request
    if before.model == NO_MODEL:
        return before.prompt == now.prompt
    return (before.prompt, before.model, before.privacy) == (now.prompt, now.model, now.privacy)


@dataclass(frozen=True, kw_only=True)
class RecordedAnswer:
    """The earlier run of a cell whose code is tried before a model is asked."""

    run: AgentRun
    must_be_same: bool
    """Whether it counts only with the same output: it was made of other data."""


async def replay(
    run: AgentRun, recorded: RecordedAnswer, *, decide: Decide, runner: CodeRunner, watcher: RunWatcher
) -> AgentRun | None:
    """Run the recorded code in the sandbox; return None if it is no answer now: the model is asked after all."""
    known = recorded.run
    step = await run_given_code(
        run,
        known.code,
        why="It is the recorded answer to the same question.",
        note="replayed from the record",
        decide=decide,
        runner=runner,
        watcher=watcher,
    )
    result = step.result
    if result is None or result.status != "ok":
        return None
    if recorded.must_be_same and result.outputs != known.outputs:
        return None
    same = output_text(result) == output_text(ExecutionResult(status="ok", outputs=known.outputs))
    replayed = replace(
        with_result(replace(run, status="ok", steps=(*run.steps, step)), step),
        written=known.written,
        answer=known.answer if same else "",
        ended_at=time.time(),
    )
    if same and known.verdict is not None:  # it knows how hard the code was to come by
        return replace(replayed, verdict=known.verdict)
    return replayed
