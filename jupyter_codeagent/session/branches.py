"""Going back to an earlier result: the sandbox gets the state that it had then, whatever came after it.

The programs of the conversation up to that result run again, in order, on copies of the present data. A copy of
the sandbox would be quicker, but none can be made of a process with open files and threads.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from jupyter_codeagent.agent.ending import problem_of_rerun
from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.frontend.display import CellDisplay
from jupyter_codeagent.notebook.effects import code_effects
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.current_run import CurrentRun
from jupyter_codeagent.session.given_code import run_given_code
from jupyter_codeagent.session.preparation import PreparedRerun, RunPreparation
from jupyter_codeagent.session.refinement import Refinements
from jupyter_codeagent.session.reproduction import RerunWatcher
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.tools.prompt_lines import calls_text
from jupyter_codeagent.types.errors import DeniedError, StoppedError
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.run import KEPT_STATES, AgentRun

MAX_PROMPT_CHARS = 40
"""Length of an earlier question in a note."""


@dataclass(frozen=True, kw_only=True)
class Branches:
    """Goes back to earlier results for a session. Main thread."""

    background: BackgroundLoop
    front_ends: FrontEndAdapters
    workspace: SandboxWorkspace
    preparation: RunPreparation
    run_log: RunLog
    refinements: Refinements
    current_run: CurrentRun

    def go_back(self, options: RunOptions, origin: CellOrigin, display: CellDisplay) -> tuple[str, ...]:
        """Bring the sandbox to where the question goes on, unless it is there; return notes for the run.

        Raises
        ------
        CodeAgentError
            The state could not be restored; the sandbox is empty then.
        """
        follows = self.run_log.followed(options.follows) if options.follows else ""
        target = self._target(follows)
        if not target:
            return ()
        earlier = self.run_log.conversation(origin.cell_id, target)
        self._reset()
        try:
            notes = [note for known in earlier if (note := self._run_again(known, origin, display))]
        except (KeyboardInterrupt, asyncio.CancelledError) as stop:
            self._reset()
            raise StoppedError("Stopped by you; nothing was sent.") from stop
        except BaseException:
            self._reset()
            raise
        finally:
            self.current_run.end()
        if self.workspace.current is not None:
            self.workspace.current.state_of = target
        return (f"went back to {_quoted(self.run_log.find(target))}", *notes)

    def _target(self, follows: str) -> str:
        """Return the run after which the sandbox has to stand and does not; empty if it stands there.

        A sandbox that has lost its variables stays as it is for a question without `--from`: the run says so.
        """
        sandbox = self.workspace.current
        state_of = sandbox.state_of if sandbox is not None else ""
        if follows:
            return follows if state_of != follows else ""
        newest = self.run_log.newest_result
        return newest if state_of not in ("", newest) else ""

    def _reset(self) -> None:
        if self.workspace.current is not None:
            self.background.run(self.workspace.current.reset())

    def _run_again(self, known: AgentRun, origin: CellOrigin, display: CellDisplay) -> str:
        """Run the program of an earlier run; return why its variables are missing, empty if they are there."""
        stubs = {tool.name: tool for tool in known.manifest.tools}
        if called := {*stubs} & {*code_effects(known.code).reads}:
            return f"{_quoted(known)} was not run again: {calls_text(stubs[min(called)])} ({min(called)})"
        names = [copied.name for copied in known.manifest.copied]
        prepared = self.preparation.prepare_rerun(names, origin, self.refinements.options_of(known.id))
        if _is_in_live_variables(known, prepared):
            return ""
        watcher = RerunWatcher.of(prepared)
        task = self.background.submit(self._execute(known, prepared, watcher, origin))
        self.current_run.start_rerun(task, origin.request)
        problem = self.background.wait(task, lambda: display.progress(*watcher.latest, recorded=False))
        return f"{_quoted(known)} did not run again: {problem}" if problem else ""

    async def _execute(
        self, known: AgentRun, prepared: PreparedRerun, watcher: RerunWatcher, origin: CellOrigin
    ) -> str:
        sandbox = await self.workspace.sandbox(prepared.settings.sandbox)
        status = await sandbox.prepare(prepared.manifest)
        gate = self.front_ends.gate(origin, prepared.settings)
        step = await run_given_code(
            replace(watcher.latest[0], sandbox=status.label),
            known.code,
            why="It is the code of an earlier result, run again because your question continues from there.",
            note="run again for a question that continues from it",
            decide=lambda proposal: gate.decide(proposal, prepared.request.approve),
            runner=sandbox,
            watcher=watcher,
        )
        if step.result is None:
            raise DeniedError(f"You rejected the code of {_quoted(known)}; nothing was sent.")
        if step.result.status != "ok":
            return problem_of_rerun(step)
        sandbox.keep_changes()
        return ""


def _is_in_live_variables(known: AgentRun, prepared: PreparedRerun) -> bool:
    """Check whether the user's variables have what the run changed: its cells were kept, and they changed since."""
    versions = {copied.name: copied.version for copied in prepared.manifest.copied}
    then = {copied.name: copied.version for copied in known.manifest.copied}
    own = [change.name for change in known.changes if not change.earlier]
    return known.cell_state in KEPT_STATES and any(versions.get(name) != then.get(name) for name in own)


def _quoted(run: AgentRun) -> str:
    words = " ".join(run.request.prompt.split())
    return f"“{words[:MAX_PROMPT_CHARS]}{'…' if len(words) > MAX_PROMPT_CHARS else ''}”"
