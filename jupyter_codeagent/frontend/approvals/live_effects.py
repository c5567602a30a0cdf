"""The effects of code on the names that the user's kernel has now."""

from __future__ import annotations

import asyncio

from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.notebook.effects import code_effects, effects_on_namespace
from jupyter_codeagent.types.approvals import Effects, Proposal
from jupyter_codeagent.variables.user_namespace import UserNamespace

LOOK_S = 1.5
"""Time for the main thread, in seconds: a running cell of the user keeps it busy."""


class LiveEffects:
    """Effects for a person who decides. On the background loop; the kernel is read on its main thread."""

    def __init__(self, live: UserNamespace, background: BackgroundLoop) -> None:
        self._live = live
        self._background = background

    async def of(self, code: str, *, in_kernel: bool) -> Effects:
        """Return the effects of code; `in_kernel`: in the user's kernel, which must have what it reads."""
        found = await asyncio.to_thread(code_effects, code)
        try:
            async with asyncio.timeout(LOOK_S):
                live = await self._background.on_main_thread(lambda: self._live.outlines(found.names))
        except TimeoutError:
            live = None
        return effects_on_namespace(found, live, include_missing=in_kernel)

    async def of_proposal(self, proposal: Proposal) -> Effects | None:
        """Return the effects of a proposal; None if it has no code: files, and values that are brought back."""
        if proposal.kind not in ("run", "apply"):
            return None
        return await self.of(proposal.code, in_kernel=proposal.kind == "apply")
