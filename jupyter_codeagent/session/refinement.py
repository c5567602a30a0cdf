"""Another version of a result: under which options its question was asked."""

from __future__ import annotations

from dataclasses import replace

from jupyter_codeagent.report.comparison import compare_outputs
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.run import AgentRun, Step
from jupyter_codeagent.types.sandbox import ExecutionResult

NOTHING_NEW = "same code and result as before"
KEPT_OPTIONS = 500
"""Number of the latest runs of this session that can be refined."""


class Refinements:
    """Keeps the options of the last runs, which the history does not have."""

    def __init__(self, run_log: RunLog) -> None:
        self._run_log = run_log
        self._options: dict[str, RunOptions] = {}

    def remember(self, run_id: str, options: RunOptions) -> None:
        """Keep the options under which a run was asked for."""
        self._options[run_id] = options
        while len(self._options) > KEPT_OPTIONS:
            del self._options[next(iter(self._options))]

    def run_and_options(self, run_id: str, refinement: str) -> tuple[AgentRun, RunOptions]:
        """Return a run of this session, and the options for another version of its result.

        Raises
        ------
        UsageError, HistoryError
            There is no such run, it is not among the last ones of this session, or it has no result.
        """
        known = self._run_log.find(run_id)
        if known.id not in self._options:
            raise UsageError(
                f"Run {known.id} was not made in this session, or is not among its last {KEPT_OPTIONS}; ask its "
                "question again with %%agent."
            )
        if hidden := self._run_log.hidden_since(known.id):
            raise UsageError(
                f"Run {known.id} was forgotten when {hidden} or columns of it were hidden; ask its question again "
                "with %%agent."
            )
        if not known.code:
            raise UsageError(f"Run {known.id} has no result that could be refined; it is {known.status}.")
        follows = self._run_log.result_before(known)
        asked = replace(self._options[known.id], new=False, rerun=True, follows=follows)
        return known, replace(asked, refines=known.id, refinement=refinement)

    def options_of(self, run_id: str) -> RunOptions:
        """Return the options under which a run was asked for; the default ones if they are not known any more."""
        return self._options.get(run_id, RunOptions())

    def refined_program(self, run: AgentRun) -> tuple[Step, ...]:
        """Return the program that a run replaces, as a step; none if it refines no run."""
        if not run.request.refines:
            return ()
        known = self._run_log.find(run.request.refines)
        return (Step(index=0, messages=(), code=known.code, result=ExecutionResult(status="ok")),)

    def compared(self, run: AgentRun) -> AgentRun:
        """Return the run with a note if it is the same again as the run that it refines."""
        if not run.request.refines:
            return run
        known = self._run_log.find(run.request.refines)
        is_same = known.code.strip() == run.code.strip()
        if not is_same or compare_outputs(known.outputs, run.outputs).outcome != "same":
            return run
        return replace(run, notes=(*run.notes, NOTHING_NEW))
