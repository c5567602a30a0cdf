"""Every message between kernel and page, protocol 1. `labextension/src/protocol.ts` is the mirror of this file;
`tests/contract/messages.json` holds one golden example of each, checked from both sides.

The page opens the comm (target `jupyter-codeagent`) on a kernel subshell of its own, so that its messages are
handled while a cell is running. The kernel's `insert` and `mark` are sent again until they are acknowledged
(the server may drop messages after a flood of output) and must be handled idempotently.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from jupyter_codeagent.values import Phase

Shared = Literal["auto", "shared", "hidden"]
"""auto: chosen for each prompt · shared: always copied · hidden: never told of, never copied."""

TARGET = "jupyter-codeagent"
PROTOCOL = 1


class SandboxView(TypedDict):
    """`SandboxStatus` for the badge and its explanation."""

    level: str
    label: str
    layers: list[str]
    closed: list[str]
    open: list[str]
    limits: list[str]
    hint: str


class VariableView(TypedDict):
    """One live variable: what the model is told of it, and whether it is copied."""

    name: str
    type_name: str
    headline: str
    size_bytes: int | None
    shared: Shared


class ProposalView(TypedDict):
    """`Proposal` as the approval card shows it."""

    id: str
    run_id: str
    kind: Literal["run", "apply", "overwrite"]
    code: str
    note: str
    step: int


class UsageView(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    calls: int


# --- kernel -> page --------------------------------------------------------------------------------


class StateMessage(TypedDict):
    """Answer to `hello`, and every 5 s while a decision is waited for."""

    type: Literal["state"]
    protocol: int
    model: str
    approve: Literal["review", "ask", "auto"]
    sandbox: SandboxView | None
    variables: list[VariableView]
    runs: list[dict[str, Any]]
    """Runs of this kernel, oldest first, as `record.run_view` writes them."""
    proposals: list[ProposalView]


class RunMessage(TypedDict):
    """A run began, finished a step or ended. Replaces what the page knew of it."""

    type: Literal["run"]
    run: dict[str, Any]


class ProgressMessage(TypedDict):
    """At most 4 a second."""

    type: Literal["progress"]
    run_id: str
    phase: Phase
    step: int
    text: str
    """The reply of this step as far as it has come."""
    elapsed_s: float
    usage: UsageView


class ProposalMessage(TypedDict):
    type: Literal["proposal"]
    proposal: ProposalView


class ResolvedMessage(TypedDict):
    """A proposal was decided, here or elsewhere, or its run is over."""

    type: Literal["resolved"]
    proposal_id: str
    action: Literal["approve", "reject"]


class InsertMessage(TypedDict):
    """Insert cells (nbformat 4.5 dicts with ids made by the kernel) below the anchor cell, as one undo step."""

    type: Literal["insert"]
    id: str
    run_id: str
    anchor: str | None
    """Id of the `%%agent` cell; if it is gone the cells go to the end of the notebook."""
    replace: list[str]
    """Earlier runs of the same cell: their cells that are still pending are removed in the same transaction."""
    cells: list[dict[str, Any]]


class MarkMessage(TypedDict):
    """Set the state of a run's cells; `discarded` removes those that are pending. From `%agent accept RUN`."""

    type: Literal["mark"]
    id: str
    run_id: str
    state: Literal["accepted", "discarded"]


class PingMessage(TypedDict):
    type: Literal["ping"]


# --- page -> kernel --------------------------------------------------------------------------------


class HelloMessage(TypedDict):
    """Data of `comm_open`."""

    type: Literal["hello"]
    protocol: int
    session: str
    """`kernel.clientId` of the page: equals the session in the header of the cells it runs."""
    notebook: str | None


class PongMessage(TypedDict):
    type: Literal["pong"]


class DecisionMessage(TypedDict):
    type: Literal["decision"]
    proposal_id: str
    action: Literal["approve", "reject"]
    code: NotRequired[str]
    """The code as the person edited it."""
    reason: NotRequired[str]
    scope: NotRequired[Literal["once", "notebook"]]


class StopMessage(TypedDict):
    type: Literal["stop"]
    run_id: str


class InsertedMessage(TypedDict):
    """Acknowledges `insert`."""

    type: Literal["inserted"]
    id: str
    ok: bool
    cell_ids: list[str]
    problem: str


class MarkedMessage(TypedDict):
    """Acknowledges `mark`."""

    type: Literal["marked"]
    id: str
    ok: bool
    cell_ids: list[str]
    problem: str


class CellStateMessage(TypedDict):
    """The user accepted, edited or discarded a run's cell in the notebook or the panel."""

    type: Literal["cell_state"]
    run_id: str
    state: Literal["pending", "accepted", "discarded", "edited"]


class ShareMessage(TypedDict):
    """The user's switch for one variable."""

    type: Literal["share"]
    name: str
    shared: Shared


ToPage = (
    StateMessage
    | RunMessage
    | ProgressMessage
    | ProposalMessage
    | ResolvedMessage
    | InsertMessage
    | MarkMessage
    | PingMessage
)
FromPage = (
    HelloMessage
    | PongMessage
    | DecisionMessage
    | StopMessage
    | InsertedMessage
    | MarkedMessage
    | CellStateMessage
    | ShareMessage
)
