"""What the agent loop needs to have a proposal decided."""

from __future__ import annotations

from typing import Protocol

from jupyter_codeagent.types.approvals import Decision, Proposal


class Approver(Protocol):
    """A way to ask a person: panel, stdin, nobody."""

    async def ask(self, proposal: Proposal) -> Decision:
        """Wait for the answer; cancelled when the run is stopped. No answer is a rejection, never an approval."""
        ...
