"""What a person decides about results: take a value, run code in the own kernel, accept or discard cells."""

from __future__ import annotations

import asyncio
import keyword
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import MarkMessage, PulledMessage
from jupyter_codeagent.notebook.reserved_names import means_something_else
from jupyter_codeagent.sandbox.data.outlines import Outline
from jupyter_codeagent.sandbox.data.unpack import Part, unpack, unpack_outline
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.approvals import Decision, Grant, Proposal, ProposalKind
from jupyter_codeagent.types.errors import CodeAgentError, DeniedError, UsageError, VariableError
from jupyter_codeagent.types.run import AgentRun, CellState
from jupyter_codeagent.types.sandbox import PackedValue
from jupyter_codeagent.variables.privacy.sharing.rules import Shared
from jupyter_codeagent.variables.user_namespace import UserNamespace, outline


@dataclass(frozen=True, kw_only=True)
class Returned:
    """A variable that was brought back."""

    name: str
    what: str
    """``DataFrame 365x3``."""
    notes: tuple[str, ...]
    """What was changed on its way, because it has no exact data form."""


class ResultDecisions:
    """The only way by which anything of the sandbox reaches the live kernel. Main thread, save `set_cell_state`
    and what is `async`."""

    def __init__(
        self,
        *,
        live: UserNamespace,
        background: BackgroundLoop,
        book: RunLog,
        sidecar: SandboxWorkspace,
        front_ends: FrontEndAdapters,
        link: PanelLink | None,
        settings: Callable[[], Settings],
        shared: Mapping[str, Shared],
    ) -> None:
        self._shared = shared
        self._live = live
        self._background = background
        self._book = book
        self._sidecar = sidecar
        self._front_ends = front_ends
        self._link = link
        self._settings = settings

    def bring_back(self, names: Sequence[str], place: CellOrigin) -> tuple[Returned, ...]:
        """Copy variables of the sandbox into the live kernel, as data; see `pull`. Main thread."""
        return self._background.run(self.pull(names, place))

    async def pull(self, names: Sequence[str], place: CellOrigin) -> tuple[Returned, ...]:
        """All of these variables or none: what exists already is overwritten after one yes to all of it.

        Nothing is decoded before that yes. On the background loop; the live kernel is touched when its main thread
        is free.

        Raises
        ------
        UsageError, DeniedError, RejectedDataError, VariableError, SandboxDiedError
        """
        packed = {name: await self._fetch(name) for name in dict.fromkeys(names)}
        present = await self._background.on_main_thread(lambda: self._live.present(packed))
        if present:
            told = {
                name: (what, await self._read(unpack_outline, packed[name])) for name, (_, what) in present.items()
            }
            await self._ask_to_overwrite(told, place)
        values: dict[str, Any] = {}
        returned = []
        for name, one in packed.items():
            values[name], notes = await self._read(unpack, one)
            returned.append(Returned(name=name, what=outline(values[name]), notes=notes))
        asked = {name: value for name, (value, _) in present.items()}
        if changed := await self._background.on_main_thread(lambda: self._live.assign(values, asked)):
            raise DeniedError(f"Not done: {', '.join(changed)} changed in your kernel meanwhile; ask again.")
        return tuple(returned)

    async def _read(self, read: Callable[..., Part], packed: PackedValue) -> Part:
        return await asyncio.to_thread(read, packed, max_bytes=self._settings().max_return_bytes)

    async def _fetch(self, name: str) -> PackedValue:
        check_name(name)
        if self._shared.get(name) == "hidden":
            raise UsageError(f"{name!r} is hidden from the agent; `%agent share {name}` first.")
        seat = self._sidecar.current
        if seat is None:
            raise UsageError(f"There is no sandbox yet that could hold {name!r}: run `%%agent` first.")
        try:
            return await seat.fetch(name, max_bytes=self._settings().max_return_bytes)
        except VariableError as problem:
            raise VariableError(f"{name!r} was not brought back. {problem}") from problem

    async def _ask_to_overwrite(self, told: Mapping[str, tuple[str, Part]], place: CellOrigin) -> None:
        """What is there and what would take its place, by name. Raises DeniedError."""
        code = "\n".join(
            f"{name}: {there} → {value if isinstance(value, Outline) else outline(value)}"
            for name, (there, (value, _)) in told.items()
        )
        names = ", ".join(map(repr, told))
        note = f"{names}: replaced by what came of it in the sandbox."
        await self._decide("overwrite", code, note, place)

    async def answer_pull(self, name: str, request_id: str, run_id: str) -> PulledMessage:
        """For the button in the panel: never raises for what can go wrong with a value."""
        try:
            [returned] = await self.pull([name], CellOrigin(has_kernel=True))
        except CodeAgentError as problem:
            ok, text = False, str(problem)
        except asyncio.CancelledError:
            ok, text = False, "Interrupted: nothing was brought back."
        else:
            ok, text = True, "; ".join((f"{name} is now {returned.what}", *returned.notes))
        return PulledMessage(type="pulled", id=request_id, run_id=run_id, name=name, ok=ok, text=text)

    def apply(self, run: AgentRun, place: CellOrigin) -> None:
        """Run a run's code in the LIVE kernel, after a yes to the code itself."""
        note = f"It is the code of run {run.id}; it acts on your own variables."
        decision = self._background.run(self._decide("apply", run.code, note, place, run_id=run.id))
        self.note_applied(run.id, decision.code, decided_by=decision.decided_by)
        self._live.run(decision.code)
        self.set_cell_state(run.id, "accepted", decided_by="magic")  # its pages mark the cells

    def mark(self, run: AgentRun, state: Literal["accepted", "discarded"], place: CellOrigin) -> int:
        """Accept a run's cells or remove its pending ones, in the notebook and in the record; how many cells."""
        count = 0
        if self._link is not None and self._link.is_open:
            message = MarkMessage(type="mark", id=uuid.uuid4().hex[:12], run_id=run.id, state=state)
            count = len(self._background.run(self._link.mark(message, session=place.session))["cell_ids"])
        self.set_cell_state(run.id, state, decided_by="magic", session=place.session or "")
        return count

    def note_applied(self, run_id: str, code: str, *, decided_by: str) -> None:
        """Somebody said yes to running this code in the live kernel; noted before it runs, with the time."""
        self._book.history.note_applied(run_id, code, decided_by)

    def set_cell_state(self, run_id: str, state: CellState, *, decided_by: str, session: str = "") -> None:
        """On record, then told to all pages; `session` is that of the page where it was decided.

        A discarded run is out of the conversation, and what it did to the copies is undone.
        """
        if not self._decide_over_cells(run_id, state, decided_by=decided_by, session=session):
            return
        if state == "discarded" and self._sidecar.current is not None:
            self._sidecar.current.reload()

    def replaced(self, run_ids: Sequence[str], session: str, *, decided_by: str) -> None:
        """A newer run took the place of their cells; the copies are as it left them."""
        for run_id in run_ids:
            self._decide_over_cells(run_id, "discarded", decided_by=decided_by, session=session)

    def _decide_over_cells(self, run_id: str, state: CellState, *, decided_by: str, session: str) -> bool:
        """Whether it is another state than before."""
        changed = self._book.set_cell_state(run_id, state, decided_by=decided_by)
        if changed and self._link is not None:
            self._link.decided(run_id, state, session=session)
        return changed

    def ask(self, kind: ProposalKind, subject: str, note: str, lasting: Sequence[Grant], place: CellOrigin) -> None:
        """Have a person decide about files or a server; a yes lasts. Main thread. Raises DeniedError."""
        self._background.run(self._decide(kind, subject, note, place, lasting=tuple(lasting)))

    async def _decide(
        self,
        kind: ProposalKind,
        code: str,
        note: str,
        place: CellOrigin,
        *,
        run_id: str = "",
        lasting: tuple[Grant, ...] = (),
    ) -> Decision:
        settings = self._settings()
        gate = self._front_ends.gate(place, timeout_s=settings.approval_timeout_s)
        proposal = Proposal(
            id=uuid.uuid4().hex[:12], run_id=run_id, kind=kind, code=code, note=note, lasting=lasting
        )
        decision = await gate.decide(proposal, settings.approve)
        if decision.action != "approve":
            denied = DeniedError(f"Not done: {decision.reason or 'the answer was no'}.")
            denied.neutral_text = str(denied) if decision.decided_by != "nobody" else None
            raise denied
        return decision


def check_name(name: str) -> None:
    """Raises UsageError for what must not be bound in anybody's kernel."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(f"{name!r} is not the name of a variable.")
    if means_something_else(name):
        raise UsageError(
            f"{name!r} means something else in a notebook and is not overwritten; have the agent give the result "
            f"another name."
        )
