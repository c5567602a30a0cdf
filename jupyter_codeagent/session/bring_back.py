"""Variables of the sandbox brought back into the live kernel, as data: `--return`, `%agent pull`, the panel."""

from __future__ import annotations

import asyncio
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.frontend.messages import PulledMessage
from jupyter_codeagent.notebook.reserved_names import is_reserved
from jupyter_codeagent.sandbox.data.outlines import Outline
from jupyter_codeagent.sandbox.data.unpack import Part, unpack, unpack_outline
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.consent import Consent
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import CodeAgentError, DeniedError, UsageError, VariableError
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
    """What was changed in transit, because it has no exact data form."""


class ResultTransfer:
    """The only way in which a value of the sandbox reaches the live kernel."""

    def __init__(
        self,
        *,
        live: UserNamespace,
        background: BackgroundLoop,
        workspace: SandboxWorkspace,
        consent: Consent,
        settings: Callable[[], Settings],
        shared: Mapping[str, Shared],
    ) -> None:
        self._live = live
        self._background = background
        self._workspace = workspace
        self._consent = consent
        self._settings = settings
        self._shared = shared

    def bring_back(self, names: Sequence[str], origin: CellOrigin) -> tuple[Returned, ...]:
        """Copy variables of the sandbox into the live kernel, as data; see `pull`. Main thread."""
        return self._background.run(self.pull(names, origin))

    async def pull(self, names: Sequence[str], origin: CellOrigin) -> tuple[Returned, ...]:
        """Copy all of these variables or none; existing ones are overwritten after one approval of all of them.

        Nothing is decoded before that approval. On the background loop; the live kernel is changed when its main
        thread is free.

        Raises
        ------
        UsageError, DeniedError, RejectedDataError, VariableError, SandboxDiedError
        """
        packed = {name: await self._fetch(name) for name in dict.fromkeys(names)}
        present = await self._background.on_main_thread(lambda: self._live.present(packed))
        if present:
            changes = {
                name: (what, await self._read(unpack_outline, packed[name])) for name, (_, what) in present.items()
            }
            await self._ask_to_overwrite(changes, origin)
        values: dict[str, Any] = {}
        returned = []
        for name, one in packed.items():
            values[name], notes = await self._read(unpack, one)
            returned.append(Returned(name=name, what=outline(values[name]), notes=notes))
        asked = {name: value for name, (value, _) in present.items()}
        if changed := await self._background.on_main_thread(lambda: self._live.assign(values, asked)):
            raise DeniedError(f"Not done: {', '.join(changed)} changed in your kernel in the meantime; try again.")
        return tuple(returned)

    async def _read(self, read: Callable[..., Part], packed: PackedValue) -> Part:
        return await asyncio.to_thread(read, packed, max_bytes=self._settings().max_return_bytes)

    async def _fetch(self, name: str) -> PackedValue:
        check_name(name)
        if self._shared.get(name) == "hidden":
            raise UsageError(f"{name!r} is hidden from the agent; run `%agent share {name}` first.")
        sandbox = self._workspace.current
        if sandbox is None:
            raise UsageError(f"No sandbox is running yet, so it has no {name!r}: run a `%%agent` cell first.")
        try:
            return await sandbox.fetch(name, max_bytes=self._settings().max_return_bytes)
        except VariableError as problem:
            raise VariableError(f"{name!r} was not brought back. {problem}") from problem

    async def _ask_to_overwrite(self, changes: Mapping[str, tuple[str, Part]], origin: CellOrigin) -> None:
        """Ask with the present value and the new one of each name; raise DeniedError for a no."""
        code = "\n".join(
            f"{name}: {there} → {value if isinstance(value, Outline) else outline(value)}"
            for name, (there, (value, _)) in changes.items()
        )
        names = ", ".join(map(repr, changes))
        note = f"{names}: replaced by what came of it in the sandbox."
        await self._consent.decide("overwrite", code, note, origin)

    async def answer_pull(self, name: str, request_id: str, run_id: str) -> PulledMessage:
        """Answer the button in the panel; never raise for what can go wrong with a value."""
        try:
            [returned] = await self.pull([name], CellOrigin(has_kernel=True))
        except CodeAgentError as problem:
            ok, text = False, str(problem)
        except asyncio.CancelledError:
            ok, text = False, "Interrupted: nothing was brought back."
        else:
            ok, text = True, "; ".join((f"{name} is now {returned.what}", *returned.notes))
        return PulledMessage(type="pulled", id=request_id, run_id=run_id, name=name, ok=ok, text=text)


def check_name(name: str) -> None:
    """Raise UsageError for a name that must not be bound in any kernel."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(f"{name!r} is not the name of a variable.")
    if is_reserved(name):
        raise UsageError(
            f"{name!r} is a reserved name in notebooks and is not overwritten; have the agent give the "
            f"result another name."
        )
