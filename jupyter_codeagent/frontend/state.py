"""What a page is told of the whole session when it says hello."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast, get_args

from jupyter_codeagent.frontend.messages import (
    PROTOCOL,
    ProposalView,
    SandboxView,
    Shared,
    StateMessage,
    VariableView,
)
from jupyter_codeagent.record import run_view
from jupyter_codeagent.values import AgentRun, ApprovalPolicy, SandboxStatus, VariableSummary


def state_message(
    *,
    model: str,
    approve: ApprovalPolicy,
    sandbox: SandboxStatus | None,
    variables: Sequence[VariableSummary],
    shared: Mapping[str, str],
    runs: Sequence[AgentRun],
    proposals: list[ProposalView],
) -> StateMessage:
    """The session as the panel shows it."""
    return StateMessage(
        type="state",
        protocol=PROTOCOL,
        model=model,
        approve=approve,
        sandbox=None if sandbox is None else sandbox_view(sandbox),
        variables=[variable_view(summary, shared.get(summary.name, "auto")) for summary in variables],
        runs=[run_view(run) for run in runs],
        proposals=proposals,
    )


def sandbox_view(status: SandboxStatus) -> SandboxView:
    return SandboxView(
        level=status.level,
        label=status.label,
        layers=list(status.layers),
        closed=list(status.closed),
        open=list(status.open),
        limits=list(status.limits),
        hint=status.hint,
    )


def variable_view(summary: VariableSummary, shared: str) -> VariableView:
    return VariableView(
        name=summary.name,
        type_name=summary.type_name,
        headline=summary.headline,
        size_bytes=summary.size_bytes,
        shared=cast("Shared", shared) if shared in get_args(Shared) else "auto",
    )
