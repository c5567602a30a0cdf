"""Which proposals need a person, and which scopes an approval of each can have: pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jupyter_codeagent.types.approvals import ApprovalPolicy, Decision, DecisionScope, Proposal, ProposalKind

ALWAYS_ASK: frozenset[ProposalKind] = frozenset({"apply", "overwrite", "mount", "call", "query", "server"})
"""Proposals that touch the live kernel, widen the sandbox, or send prompts to a new server: they need approval
under every policy."""

SCOPES: Mapping[ProposalKind, tuple[DecisionScope, ...]] = {
    "run": ("once", "notebook"),
    "apply": ("once",),
    "overwrite": ("once",),
    "mount": ("notebook",),
    "call": ("once", "run", "notebook"),
    "query": ("once", "run", "notebook"),
    "server": ("notebook",),
}
"""Scopes that an approval can have; the first is the default. What changes the user's own kernel needs approval
each time: nobody foresees all code of a notebook."""

EDITABLE: frozenset[ProposalKind] = frozenset({"run", "apply", "call", "query"})


def needs_person(policy: ApprovalPolicy, kind: ProposalKind) -> bool:
    """Check whether a proposal needs a person, unless it was granted before."""
    return kind in ALWAYS_ASK or policy == "ask"


def asked_each_time(rules: Mapping[str, object]) -> frozenset[ProposalKind]:
    """Return the proposals that the administrator wants a person to see each time: no approval of them lasts."""
    kinds: Mapping[ProposalKind, str] = {"run": "approve", "call": "tools", "query": "tools"}
    return frozenset(kind for kind, rule in kinds.items() if rules.get(rule) == "ask")


def scopes_of(proposal: Proposal) -> tuple[DecisionScope, ...]:
    """Return the scopes that an approval of the proposal can have."""
    return tuple(scope for scope in SCOPES[proposal.kind] if scope != "notebook" or proposal.lasting)


def as_offered(proposal: Proposal, decision: Decision) -> Decision:
    """Return the decision limited to what the proposal offered: a page may send anything."""
    if decision.action != "approve":
        return decision
    offered = scopes_of(proposal)
    scope = decision.scope if decision.scope in offered else offered[0]
    code = decision.code if proposal.kind in EDITABLE else proposal.code
    return replace(
        decision,
        code=code,
        edited=code != proposal.code,
        scope=scope,
        calls=decision.calls if scope == "run" else 0,
    )
