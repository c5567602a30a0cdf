"""Running accepted code again, from the top, in a spare sandbox on copies of the live variables.

No model is asked, and no run is recorded: what came of it stands in the report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jupyter_codeagent.agent.ending import problem_of_rerun
from jupyter_codeagent.agent.prompt.hidden_columns import asked_hidden
from jupyter_codeagent.agent.rules.error_reading import missing_name
from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.approvals.gate import ApprovalGate
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.notebook.effects import CodeEffects, code_effects
from jupyter_codeagent.report.comparison import compare_outputs
from jupyter_codeagent.report.report import Rerun, Result
from jupyter_codeagent.report.results import clean_outputs
from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.given_code import run_given_code
from jupyter_codeagent.session.preparation import PreparedRerun
from jupyter_codeagent.session.run_request import new_run
from jupyter_codeagent.tools.prompt_lines import calls_text
from jupyter_codeagent.types.errors import SandboxError
from jupyter_codeagent.types.run import AgentRun, Phase, Step
from jupyter_codeagent.types.tagged_text import TaggedText
from jupyter_codeagent.variables.privacy.secret import mask_keys
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing

NO_CODE = "its code is no longer in the notebook"
REJECTED = "you rejected the code"


class RerunWatcher:
    """A `RunWatcher` that keeps the progress for the cell's display and records nothing."""

    def __init__(self, run: AgentRun) -> None:
        self.latest: tuple[AgentRun, Phase, str] = (run, "sandbox", "")

    @classmethod
    def of(cls, prepared: PreparedRerun) -> RerunWatcher:
        """Return where the progress of a re-run is kept."""
        return cls(new_run(prepared.request, prepared.manifest, TaggedText()))

    def changed(self, run: AgentRun) -> None:
        self.latest = (run, *self.latest[1:])

    def progress(self, run: AgentRun, phase: Phase, text: str = "") -> None:
        self.latest = (run, phase, text)


@dataclass(frozen=True, kw_only=True)
class Program:
    """The code of a result, and what it reads and binds."""

    result: Result
    effects: CodeEffects

    @property
    def needs(self) -> tuple[str, ...]:
        return (*self.effects.reads, *self.effects.changes)


def programs_of(results: Sequence[Result]) -> tuple[Program, ...]:
    """Return the programs of results, in their order. Takes up to seconds: not on the background loop."""
    return tuple(Program(result=result, effects=code_effects(result.source)) for result in results)


def names_to_copy(programs: Sequence[Program]) -> tuple[str, ...]:
    """Return the names that the programs read before one of them has bound them."""
    bound: set[str] = set()
    names: dict[str, None] = {}
    for program in programs:
        names.update(dict.fromkeys(name for name in program.needs if name not in bound))
        bound.update(program.effects.binds)
    return tuple(names)


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Runs the results of a report again for a session. On the background loop."""

    front_ends: FrontEndAdapters
    workspace: SandboxWorkspace
    sharing: NotebookSharing

    async def rerun(
        self, programs: Sequence[Program], prepared: PreparedRerun, watcher: RerunWatcher, origin: CellOrigin
    ) -> tuple[Rerun, ...]:
        """Run the code of each result, in order, and compare; a result that cannot be run says why."""
        gate = self.front_ends.gate(origin, prepared.settings)
        # A sandbox of its own: what earlier questions left in the notebook's would help code that needs it.
        reruns: list[Rerun] = []
        not_made: dict[str, int] = {}
        try:
            async with self.workspace.temporary_sandbox(prepared.settings.sandbox) as sandbox:
                status = await sandbox.prepare(prepared.manifest)
                run = replace(watcher.latest[0], sandbox=status.label)
                for program in programs:
                    if why := _obstacle(program, prepared.missing):
                        reruns.append(Rerun(outcome="failed", reason=why))
                        not_made |= dict.fromkeys(program.effects.binds, program.result.cell_number)
                        continue
                    rerun, run = await self._one(program.result, run, prepared, sandbox, gate, watcher, not_made)
                    reruns.append(rerun)
        except SandboxError as problem:
            failed = Rerun(outcome="failed", reason=str(problem))
            return (*reruns, *(failed for _ in programs[len(reruns) :]))
        return tuple(reruns)

    async def _one(
        self,
        result: Result,
        run: AgentRun,
        prepared: PreparedRerun,
        sandbox: PersistentSandbox,
        gate: ApprovalGate,
        watcher: RerunWatcher,
        not_made: Mapping[str, int],
    ) -> tuple[Rerun, AgentRun]:
        """Run one result again; return what came of it, and the run with its step.

        `not_made` has the names that results above would have made and the cells of these, which were not run.
        """
        step = await run_given_code(
            run,
            result.source,
            why="It is the code of an accepted result, run again for the report, in a sandbox.",
            note="run again for a report",
            decide=lambda proposal: gate.decide(proposal, prepared.request.approve),
            runner=sandbox,
            watcher=watcher,
        )
        if step.result is not None and step.result.status == "ok" and not result.is_finding:
            sandbox.keep_changes()  # the next result builds on it, as in the notebook
        else:
            sandbox.undo_attempt()  # no finding has seen what another one did to a copy
        return _outcome(result, step, not_made, self.sharing.hidden_columns), replace(run, steps=(*run.steps, step))


def _outcome(
    result: Result, step: Step, not_made: Mapping[str, int], hidden_columns: Mapping[str, frozenset[str]]
) -> Rerun:
    if step.result is None:
        return Rerun(
            outcome="failed", reason=(step.decision.reason if step.decision is not None else "") or REJECTED
        )
    if step.code != result.source:
        return Rerun(outcome="failed", reason="you wrote other code in its place")
    if step.result.status != "ok":
        error = step.result.error
        name = missing_name(error) if error is not None else ""
        if name in not_made:
            why = f"it needs {name}, which cell {not_made[name]} makes, and that was not re-run"
            return Rerun(outcome="failed", reason=why)
        if error is not None and (hidden := asked_hidden(error, hidden_columns)):
            return Rerun(outcome="failed", reason=f"it needs {hidden}, which is hidden in this notebook")
        problem = problem_of_rerun(step)
        return Rerun(outcome="failed", reason=mask_keys(problem))
    again, _ = clean_outputs(step.result.outputs)
    reasons = []
    if result.parts:
        reasons.append(f"the result in the notebook may be of a part of the data ({'; '.join(result.parts)})")
    copied = result.run.manifest.copied if result.run is not None else ()
    if tables := [one.name for one in copied if hidden_columns.get(one.name)]:
        reasons.append(f"columns of {' and '.join(tables)} are hidden in this notebook now")
    return compare_outputs(result.outputs, again, reason="; ".join(reasons))


def _obstacle(program: Program, missing: Mapping[str, str]) -> str:
    """Return why the code cannot be run; empty if nothing is in the way."""
    result = program.result
    if not result.source.strip():
        return NO_CODE
    stubs = {tool.name: tool for tool in result.run.manifest.tools} if result.run is not None else {}
    if called := [name for name in program.effects.reads if name in stubs]:
        return f"{calls_text(stubs[called[0]])}: {called[0]}"
    return next((f"{name} could not be copied: {missing[name]}" for name in program.needs if name in missing), "")
