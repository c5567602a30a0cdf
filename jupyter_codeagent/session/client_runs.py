"""Programs of MCP clients: through the gate, in a sandbox of the client's own, recorded as runs by that client.

No model is asked, and nothing runs in the live kernel. The sandbox is not the notebook's: what a client does to its
own must not change what the user's questions find there. All on the background loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from jupyter_codeagent.agent.ending import end_run, internal_error, last_problem, with_result
from jupyter_codeagent.agent.prompt.changes import with_effects
from jupyter_codeagent.agent.prompt.observation import observe, without_values
from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.approvals.policies import needs_person
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CellOrigin, notebook_of_kernel
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.notebook.effects import code_effects
from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.given_code import run_given_code
from jupyter_codeagent.session.preparation import HIDDEN, PreparedRerun, RunPreparation
from jupyter_codeagent.session.prompt_masking import PromptMasking
from jupyter_codeagent.session.recorder import RunRecorder
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.session.run_request import new_run
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.approvals import APPROVE_ORDER
from jupyter_codeagent.types.errors import CodeAgentError, DeniedError, StoppedError, UsageError, VariableError
from jupyter_codeagent.types.run import AgentRun, Step
from jupyter_codeagent.types.sandbox import SandboxPolicy
from jupyter_codeagent.types.tagged_text import TaggedText
from jupyter_codeagent.types.variables import PRIVACY_ORDER, Privacy
from jupyter_codeagent.variables.privacy.masking import masked
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing
from jupyter_codeagent.variables.text import safe

Result = TypeVar("Result")
BUSY_S = 10.0
"""How long a call waits for a cell of the user's to end."""
BUSY = f"The user's kernel has been busy with a cell for {BUSY_S:.0f} s: call again when it is done."
IDLE_S = 600.0
"""Seconds without a call after which a client's sandbox is ended."""
MAX_SANDBOXES = 4
TOLD_CHARS = 4000
SEARCHED_CHARS = 4 * TOLD_CHARS
"""Output in which personal values are looked for: more than is told, so that none is cut in half."""
TITLE_CHARS = 80
STOPPED_BY_USER = "Stopped by the user: ask them before you run it again."
NOBODY = (
    "Denied: the user's setting approve = ask wants a person's yes to each program, and nobody gave it. Have the"
    " user open the notebook in JupyterLab with the side panel, then call again."
)
Hidden = frozenset[tuple[str, str]]
"""Variable and column; the latter is empty for a whole variable."""


@dataclass(kw_only=True, eq=False)
class _ClientSandbox:
    """The sandbox of one client; its variables stay from call to call, its copies are as the live variables."""

    sandbox: PersistentSandbox
    policy: SandboxPolicy
    hidden: Hidden
    """What was hidden when it got its last copies."""
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    idle: asyncio.TimerHandle | None = None
    modules: tuple[str, ...] = ()
    """Import lines that ran in it."""


class ClientRuns:
    """Runs the programs of all clients of a session."""

    def __init__(
        self,
        *,
        background: BackgroundLoop,
        front_ends: FrontEndAdapters,
        preparation: RunPreparation,
        workspace: SandboxWorkspace,
        sharing: NotebookSharing,
        masking: PromptMasking,
        run_log: RunLog,
        link: PanelLink | None,
    ) -> None:
        """Begin without a sandbox; a client gets one with its first program."""
        self._background = background
        self._front_ends = front_ends
        self._preparation = preparation
        self._workspace = workspace
        self._sharing = sharing
        self._masking = masking
        self._run_log = run_log
        self._link = link
        self._sandboxes: dict[str, _ClientSandbox] = {}
        self._running: dict[str, asyncio.Task[AgentRun]] = {}
        self._hidden_at: dict[str, Hidden] = {}
        """Run -> what was hidden when its copies were made."""

    async def run(self, client: str, code: str, names: Sequence[str] | None) -> AgentRun:
        """Run a program on copies of these variables, None for those that it reads; return the record.

        Raises
        ------
        CodeAgentError
            It could not be prepared, was denied or stopped; one line for the client.
        """
        wanted = tuple(names) if names is not None else await asyncio.to_thread(_names_read, code)
        origin = CellOrigin(notebook=notebook_of_kernel(), has_kernel=True, headless=True, client=client)
        hidden: Hidden | None = None
        while hidden is None or self._hidden() - hidden:  # the copies have nothing of what was hidden meanwhile
            hidden = self._hidden()
            prepared = await self.when_idle(lambda: self._preparation.prepare_rerun(wanted, origin))
        _check_copied(wanted, prepared, named=names is not None)
        title = f"{title_of(client)}{safe(_first_line(code), TITLE_CHARS)}"
        approve = min(prepared.settings.approve, "review", key=APPROVE_ORDER.index)  # no client accepts cells
        request = replace(prepared.request, prompt=title, approve=approve)
        run = new_run(request, prepared.manifest, TaggedText())
        self._hidden_at[run.id] = hidden
        recorder = RunRecorder(run, self._run_log, self._link)
        recorder.changed(run)
        task = asyncio.create_task(self._ran(run, code, prepared.settings, recorder, origin, hidden))
        self._running[run.id] = task
        try:
            recorder.changed(await task)
        except asyncio.CancelledError as cancelled:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                recorder.changed(end_run(recorder.latest.run, "stopped", f"Stopped: {client} ended the call."))
                raise
            recorder.changed(end_run(recorder.latest.run, "stopped", "Stopped by you."))
            raise StoppedError(STOPPED_BY_USER) from cancelled
        except CodeAgentError as problem:
            recorder.changed(end_run(recorder.latest.run, "failed", str(problem)))
            raise
        except BaseException as fault:
            recorder.changed(end_run(recorder.latest.run, "failed", internal_error(fault)))
            raise
        finally:
            del self._running[run.id]
        return recorder.latest.run

    async def _ran(
        self,
        run: AgentRun,
        code: str,
        settings: Settings,
        recorder: RunRecorder,
        origin: CellOrigin,
        hidden: Hidden,
    ) -> AgentRun:
        async with self._sandbox(origin.client, settings, hidden) as held:
            sandbox = held.sandbox
            # A call costs a few milliseconds: what the sandbox has imported already is not imported again.
            modules = () if held.modules == run.manifest.modules and sandbox.variables else run.manifest.modules
            status = await sandbox.prepare(replace(run.manifest, modules=modules))
            held.modules = run.manifest.modules
            run, before = replace(run, sandbox=status.label), sandbox.variables
            gate = self._front_ends.gate(origin, settings)
            if needs_person(run.request.approve, "run"):
                recorder.changed(replace(run, status="waiting"))
                recorder.progress(recorder.latest.run, "waiting", code)
            step = await run_given_code(
                run,
                code,
                why=f"The MCP client {origin.client} requested it; no model was used.",
                note=f"sent by the MCP client {origin.client}",
                # A yes to further code of the notebook was none to a client's.
                decide=lambda proposal: gate.decide(replace(proposal, lasting=()), run.request.approve),
                runner=sandbox,
                watcher=recorder,
            )
            sandbox.undo_attempt()
        run = replace(run, steps=(step,))
        if step.result is None:
            return end_run(run, "rejected", "The program was not approved; it did not run.")
        if step.result.status != "ok":
            return end_run(run, "failed", f"The program failed. {last_problem(step, {})}")
        # The verdict compares with the words of a question, which there are none.
        judged = with_result(replace(run, request=replace(run.request, prompt="")), step)
        run = end_run(replace(judged, request=run.request), "ok")
        # What it made is in the client's sandbox: from the notebook's it could not be brought back.
        return replace(with_effects(run, before, ()), made=(), placed="nowhere")

    async def text_of(self, run: AgentRun, privacy: Privacy) -> str:
        """Return what a client is told of a run: as a model would be, cleaned, capped, masked.

        Raises
        ------
        CodeAgentError
            Nothing may be told, or not now; one line for the client.
        """
        step = run.steps[-1] if run.steps else None
        if step is None or step.result is None:
            raise DeniedError(_why_not_run(run))
        edited = step.decision is not None and step.decision.edited
        how = f"Run {run.id}: {step.result.status}, {step.result.duration_s:.2f} s."
        if is_schema(run, privacy) and step.result.status == "ok":
            return f"{how} Its output is withheld, as the user's setting is privacy = schema; the user sees it."
        told, values = await self.output_of(run, step, privacy)
        changed = f"\nThe user had changed the program before it ran:\n{step.code[:TOLD_CHARS]}" if edited else ""
        return f"{how}\n{told}{masked(changed, values) if changed else changed}"

    async def output_of(self, run: AgentRun, step: Step, privacy: Privacy) -> tuple[str, tuple[str, ...]]:
        """Return what a model would be told of the result of a step, and the values that are masked in it.

        Raises
        ------
        CodeAgentError
            Nothing may be told, or not now; one line for the client.
        """
        result = step.result
        assert result is not None
        if is_schema(run, privacy):
            result = without_values(result, step.code, step.code)
        seen = observe(result, step.code, max_chars=SEARCHED_CHARS)
        try:
            async with asyncio.timeout(BUSY_S):
                values = await self._masking.values_in(seen)
        except TimeoutError:
            raise CodeAgentError(
                f"Run {run.id} is done, but its output cannot be read while the user's kernel is busy with a cell: "
                f"call history('{run.id}') later."
            ) from None
        is_forgotten = all(run.id != other.id for other in self._run_log.of_client(run.request.client))
        # The client's sandbox also holds what earlier programs derived from the data, and nothing records which.
        if is_forgotten or self._hidden() - self._hidden_at.get(run.id, frozenset()):
            raise VariableError(
                f"The output of run {run.id} is withheld: the user has hidden data since, which it may contain. "
                "Run it again."
            )
        told = observe(result, step.code, max_chars=TOLD_CHARS, mask=lambda text: masked(text, values))
        return told, values

    async def when_idle(self, call: Callable[[], Result]) -> Result:
        """Call something on the main thread between two cells; raise CodeAgentError where none ends soon."""
        try:
            return await self._background.on_idle_main_thread(call, timeout_s=BUSY_S)
        except TimeoutError:
            raise CodeAgentError(BUSY) from None

    # --- lifetime ---------------------------------------------------------------------------------------

    def stop(self, run_id: str = "") -> bool:
        """Stop a run, or all; return whether there was one. Any thread."""
        stopped = [task for known, task in list(self._running.items()) if run_id in ("", known)]
        for task in stopped:
            self._background.loop.call_soon_threadsafe(task.cancel)
        return bool(stopped)

    def forget_soon(self, client: str) -> None:
        """End the sandbox of a client that has gone; return at once."""
        self._background.submit(self.forget(client))

    async def forget(self, client: str = "") -> None:
        """End the sandbox of a client, or all of them."""
        for held in [self._sandboxes.pop(name) for name in list(self._sandboxes) if client in ("", name)]:
            if held.idle is not None:
                held.idle.cancel()
            await held.sandbox.reset()

    @asynccontextmanager
    async def _sandbox(self, client: str, settings: Settings, hidden: Hidden) -> AsyncIterator[_ClientSandbox]:
        policy = replace(settings.sandbox, wall_s=SandboxPolicy.wall_s)  # the limit comes with each execution
        while True:
            held = await self._held(client, policy, hidden)
            async with held.one_at_a_time:
                if self._sandboxes.get(client) is not held or hidden - held.hidden:
                    continue  # while this call waited it was ended, or got copies of what is hidden now
                held.hidden = hidden
                if held.idle is not None:
                    held.idle.cancel()
                try:
                    yield held
                finally:
                    await self._keep_or_end(client, held)
                return

    async def _held(self, client: str, policy: SandboxPolicy, hidden: Hidden) -> _ClientSandbox:
        """Return the client's sandbox; a new one if there is none, or something that it knows was hidden since."""
        held = self._sandboxes.get(client)
        if held is not None and held.policy == policy and not hidden - held.hidden:
            return held
        await self.forget(client)
        if len(self._sandboxes) >= MAX_SANDBOXES:
            raise UsageError(
                f"{MAX_SANDBOXES} MCP clients have a sandbox in this kernel already: disconnect one of them."
            )
        sandbox = await self._workspace.extra_sandbox(policy)
        # Another call of the same client may have got one while this one waited.
        new = _ClientSandbox(sandbox=sandbox, policy=policy, hidden=hidden)
        return self._sandboxes.setdefault(client, new)

    async def _keep_or_end(self, client: str, held: _ClientSandbox) -> None:
        """Keep a sandbox for a while; end it if it was given up during the call, which may have started it anew."""
        if self._sandboxes.get(client) is held:
            held.idle = asyncio.get_running_loop().call_later(IDLE_S, self._forget_idle, client, held)
        else:
            await held.sandbox.reset()

    def _forget_idle(self, client: str, held: _ClientSandbox) -> None:
        """End a sandbox unless the client has another by now, or runs something at this moment."""
        if self._sandboxes.get(client) is held and not held.one_at_a_time.locked():
            self.forget_soon(client)

    def _hidden(self) -> Hidden:
        shared, columns = dict(self._sharing.shared), dict(self._sharing.hidden_columns)
        whole = {(name, "") for name, how in shared.items() if how == "hidden"}
        return frozenset(whole | {(name, label) for name, labels in columns.items() for label in labels})


def is_schema(run: AgentRun, privacy: Privacy) -> bool:
    """Check whether no value may be told of a run: by the setting now, or by that under which it ran."""
    return min(privacy, run.request.privacy, key=PRIVACY_ORDER.index) == "schema"


def title_of(client: str) -> str:
    """Return the beginning of the title that people see of a client's run."""
    return f"{client} (MCP): "


def _names_read(code: str) -> tuple[str, ...]:
    effects = code_effects(code)
    return tuple(dict.fromkeys((*effects.reads, *effects.changes)))


def _first_line(code: str) -> str:
    return next((line.strip() for line in code.split("\n") if line.strip()), "")


def _check_copied(names: Sequence[str], prepared: PreparedRerun, *, named: bool) -> None:
    """Raise VariableError for a variable that could not be copied; for one that is not there where it was `named`.

    Hidden ones do not exist for it.
    """
    copied = {one.name for one in prepared.manifest.copied}
    for name in names:
        reason = prepared.missing.get(name, HIDDEN)
        if name not in copied and reason != HIDDEN:
            raise VariableError(reason)
        if name not in copied and named:
            raise VariableError(f"There is no variable {safe(name)!r} to copy: list_variables names them.")


def _why_not_run(run: AgentRun) -> str:
    """Return why a run has no result, and what to do."""
    decision = run.steps[-1].decision if run.steps else None
    if decision is None:
        return f"Run {run.id} has no result ({run.status}): {safe(run.error, 200)}"
    if decision.decided_by == "nobody":
        return NOBODY
    said = f": {safe(decision.reason, 200)}" if decision.reason else ""
    return f"The user rejected the program{said}. Ask them before you send another."
