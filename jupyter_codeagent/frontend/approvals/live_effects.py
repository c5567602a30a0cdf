"""What code would do to the names that the user's kernel has now."""

from __future__ import annotations

import asyncio

from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.notebook.effects import code_effects, effects_on_namespace
from jupyter_codeagent.types.approvals import Effects, Proposal
from jupyter_codeagent.variables.user_namespace import UserNamespace

LOOK_S = 1.5
"""How long the main thread may take: a cell of the user's that runs keeps it for itself."""


class LiveEffects:
    """For a person who decides. On the background loop; the kernel is read on its main thread."""

    def __init__(self, live: UserNamespace, background: BackgroundLoop) -> None:
        self._live = live
        self._background = background

    async def of(self, code: str, *, in_kernel: bool) -> Effects:
        """`in_kernel`: it would run in the user's kernel, where what it reads has to be."""
        found = await asyncio.to_thread(code_effects, code)
        try:
            async with asyncio.timeout(LOOK_S):
                live = await self._background.on_main_thread(lambda: self._live.outlines(found.names))
        except TimeoutError:
            live = None
        return effects_on_namespace(found, live, include_missing=in_kernel)

    async def of_proposal(self, proposal: Proposal) -> Effects | None:
        """None for what is no code: files, and values that are brought back."""
        if proposal.kind not in ("run", "apply"):
            return None
        return await self.of(proposal.code, in_kernel=proposal.kind == "apply")
