"""The gate every proposal passes: policy first, then a person if it says so. No answer is a no."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from jupyter_codeagent.approvals.policies import PER_ITEM, needs_person
from jupyter_codeagent.approvals.protocol import Approver
from jupyter_codeagent.values import ApprovalPolicy, DecidedBy, Decision, Proposal, ProposalKind


class ApprovalGate:
    """Decides proposals for one notebook; remembers what was granted for the notebook."""

    def __init__(self, approver: Approver, *, timeout_s: float) -> None:
        self._approver = approver
        self._timeout_s = timeout_s
        self._granted: frozenset[ProposalKind] = frozenset()

    def forget(self) -> None:
        """Take back every yes that was given for the whole notebook."""
        self._granted = frozenset()

    async def decide(self, proposal: Proposal, policy: ApprovalPolicy) -> Decision:
        """Never raises for a missing answer: that is a rejection by `nobody`."""
        if not needs_person(policy, proposal.kind, self._granted):
            return Decision(action="approve", code=proposal.code, decided_by="policy", decided_at=time.time())
        try:
            async with asyncio.timeout(self._timeout_s):
                decision = await self._approver.ask(proposal)
        except TimeoutError:
            return reject(proposal, "nobody", f"no answer within {self._timeout_s:.0f} s")
        if decision.action == "approve" and decision.code != proposal.code:
            decision = replace(decision, edited=True)
        if decision.action == "approve" and decision.scope == "notebook" and proposal.kind not in PER_ITEM:
            self._granted |= {proposal.kind}
        return decision


def reject(proposal: Proposal, by: DecidedBy, reason: str) -> Decision:
    """A no, with its reason."""
    return Decision(action="reject", code=proposal.code, decided_by=by, reason=reason, decided_at=time.time())
