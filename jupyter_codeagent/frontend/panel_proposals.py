"""Proposals that wait for a decision in the panel. On the background loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_codeagent.frontend.approvals.gate import reject
from jupyter_codeagent.frontend.messages import ProposalView, ResolvedMessage, ToPage, proposal_view
from jupyter_codeagent.types.approvals import Decision, DecisionScope, Proposal

HEARTBEAT_S = 5.0


class PanelProposals:
    """Proposals that every page displays; the first answer counts."""

    def __init__(self, *, send: Callable[[ToPage], None], send_state: Callable[[], None]) -> None:
        self._send = send
        self._send_state = send_state
        self._proposals: dict[str, Proposal] = {}
        self._decisions: dict[str, asyncio.Future[Decision]] = {}

    @property
    def views(self) -> list[ProposalView]:
        return [proposal_view(proposal) for proposal in self._proposals.values()]

    async def ask(self, proposal: Proposal) -> Decision:
        """Display the proposal in every page, and wait for the first answer."""
        future: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._proposals[proposal.id] = proposal
        self._decisions[proposal.id] = future
        action = "reject"
        try:
            self._send({"type": "proposal", "proposal": self.views[-1]})
            while not future.done():
                await asyncio.wait([future], timeout=HEARTBEAT_S)
                if not future.done():
                    self._send_state()  # for a page whose messages were dropped
            action = future.result().action
            return future.result()
        finally:
            del self._proposals[proposal.id], self._decisions[proposal.id]
            self._send(
                ResolvedMessage(
                    type="resolved",
                    proposal_id=proposal.id,
                    action="approve" if action == "approve" else "reject",
                )
            )

    def decide(self, data: Mapping[str, Any]) -> None:
        """Take a page's decision."""
        proposal_id = str(data.get("proposal_id"))
        future = self._decisions.get(proposal_id)
        if future is None or future.done():
            self._send_state()  # the page has missed the decision
            return
        future.set_result(_decision(self._proposals[proposal_id], data))


def _decision(proposal: Proposal, data: Mapping[str, Any]) -> Decision:
    """Read the decision of a page; whatever is not a clear approval is a rejection."""
    code, reason = data.get("code", proposal.code), data.get("reason", "")
    if data.get("action") != "approve" or not isinstance(code, str):
        return reject(proposal, "panel", reason if isinstance(reason, str) else "")
    scope, calls = _scope(data)
    return Decision(
        action="approve", code=code, decided_by="panel", scope=scope, calls=calls, decided_at=time.time()
    )


def _scope(data: Mapping[str, Any]) -> tuple[DecisionScope, int]:
    """Read the scope of an approval and its number of calls; an unreadable scope is `once`."""
    if data.get("scope") == "notebook":
        return "notebook", 0
    calls = data.get("calls")
    if data.get("scope") == "run" and type(calls) is int and calls > 0:
        return "run", calls
    return "once", 0
