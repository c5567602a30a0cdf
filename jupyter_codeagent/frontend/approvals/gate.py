"""The gate that every proposal passes: the policy first, then a person if it requires one. No answer is a no."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.approvals.policies import as_offered, needs_person
from jupyter_codeagent.frontend.approvals.protocol import Approver
from jupyter_codeagent.types.approvals import ApprovalPolicy, DecidedBy, Decision, Proposal, ProposalKind


class ApprovalGate:
    """Decides proposals; what is granted for the notebook is not asked for again."""

    def __init__(
        self,
        approver: Approver,
        *,
        grants: Grants,
        timeout_s: float,
        each_time: frozenset[ProposalKind] = frozenset(),
    ) -> None:
        """Create a gate; of the kinds `each_time` no approval lasts, and none that was given before holds."""
        self._approver = approver
        self._each_time = each_time
        self._grants = grants
        self._timeout_s = timeout_s

    async def decide(self, proposal: Proposal, policy: ApprovalPolicy) -> Decision:
        """Decide the proposal; a missing answer is a rejection by `nobody`, never an error."""
        if proposal.kind in self._each_time:
            proposal = replace(proposal, lasting=())
        if not needs_person(policy, proposal.kind) or self._grants.cover(proposal.lasting):
            return Decision(action="approve", code=proposal.code, decided_by="policy", decided_at=time.time())
        try:
            async with asyncio.timeout(self._timeout_s):
                decision = as_offered(proposal, await self._approver.ask(proposal))
        except TimeoutError:
            return reject(proposal, "nobody", f"no answer within {self._timeout_s:.0f} s")
        if decision.action == "approve" and decision.scope == "notebook":
            self._grants.add(proposal.lasting)
        return decision


def reject(proposal: Proposal, by: DecidedBy, reason: str) -> Decision:
    """Return a rejection of the proposal with its reason."""
    return Decision(action="reject", code=proposal.code, decided_by=by, reason=reason, decided_at=time.time())
