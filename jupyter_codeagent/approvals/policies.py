"""Which proposals need a person: pure functions of policy, kind and what was granted before."""

from __future__ import annotations

from jupyter_codeagent.values import ApprovalPolicy, ProposalKind

ALWAYS_ASK: frozenset[ProposalKind] = frozenset({"apply", "overwrite", "mount", "call", "server"})
"""Touch the live kernel, widen the sandbox, or send prompts where the user has not sent any: asked whatever the
policy."""

PER_ITEM: frozenset[ProposalKind] = frozenset({"mount", "call", "server"})
"""A yes to one file, function or server is none to others: it is remembered for that alone (`mounts`, `tools`,
`models`)."""


def needs_person(policy: ApprovalPolicy, kind: ProposalKind, granted: frozenset[ProposalKind]) -> bool:
    """`granted` are the kinds that got a yes for the whole notebook."""
    if kind in granted:
        return False
    return kind in ALWAYS_ASK or policy == "ask"
