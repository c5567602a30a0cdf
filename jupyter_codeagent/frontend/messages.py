"""Every message between kernel and page, protocol 1.

`labextension/src/protocol/messages.ts` mirrors this file; `tests/contract/messages.json` holds one golden example
of each, checked from both sides.

The page opens the comm (target `jupyter-codeagent`) on a kernel subshell of its own, so that its messages are
handled while a cell is running. The kernel's `insert`, `mark` and `ask` are sent again until they are acknowledged
(the server may drop messages after a flood of output) and must be handled idempotently.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

from jupyter_codeagent.frontend.approvals.policies import scopes_of
from jupyter_codeagent.types.approvals import (
    DecisionScope,
    Effects,
    Grant,
    GrantKind,
    NamedValue,
    Proposal,
    ProposalKind,
)
from jupyter_codeagent.types.run import CellState, Phase
from jupyter_codeagent.variables.privacy.sharing.rules import Shared, SharingView

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


class ColumnView(TypedDict):
    name: str
    dtype: str
    hidden: bool


class VariableView(TypedDict):
    """One live variable: its line in the prompt, and whether it is copied."""

    name: str
    type_name: str
    headline: str
    size_bytes: int | None
    shared: Shared
    told: str
    """The line exactly as in the prompt, if the prompt names no variable; empty if it is left out."""
    tokens: int
    withheld: str
    """Why it is hidden as a whole although only columns of it are; else empty."""
    columns: list[ColumnView]
    """The first columns and the hidden ones; `find_columns` finds others."""
    column_count: int
    hidden_count: int


class HouseRulesView(TypedDict):
    """`HouseRulesFile`."""

    path: str
    told: str
    """The lines as in the prompt; empty if none of them is told."""
    tokens: int
    left_out: str
    """What is not told, and why; empty if that is nothing."""


class ContextView(TypedDict):
    """What the prompt would contain now."""

    privacy: Literal["schema", "stats", "samples"]
    tokens: int
    budget_tokens: int
    text: str
    """The whole text, with the lines that belong to no variable."""
    variables: list[VariableView]
    """The first variables, and those of which something is hidden."""
    variable_count: int
    house_rules: list[HouseRulesView]
    sharing: SharingView
    """All that is hidden or always shared, even if the variable does not exist at present."""
    forgotten: list[str]
    """Runs that left the conversation: no question can go on from them."""


class NamedView(TypedDict):
    """A name and what it stands for; the latter is empty if not known."""

    name: str
    what: str


class EffectsView(TypedDict):
    """`Effects`: what code would do to the names of the user's kernel, as far as its text reveals."""

    reads: list[NamedView]
    creates: list[NamedView]
    overwrites: list[NamedView]
    changes: list[NamedView]
    deletes: list[NamedView]
    missing: list[str]
    writes: list[str]
    unclear: list[str]


class GrantView(TypedDict):
    """`Grant`; kind and subject together identify it."""

    kind: GrantKind
    subject: str


class ProposalView(TypedDict):
    """`Proposal` as the approval card displays it."""

    id: str
    run_id: str
    kind: ProposalKind
    code: str
    note: str
    why: str
    previous_code: str
    """Code of the attempt before in this run; empty if there was none."""
    effects: EffectsView | None
    """None if the proposal has no code."""
    step: int
    calls: int
    """Calls of a function that the program makes at once."""
    scopes: list[DecisionScope]
    """Scopes that an approval can have, the usual one first."""
    lasting: list[GrantView]
    """What an approval with the scope ``notebook`` grants."""


class SettingView(TypedDict):
    """`EffectiveSetting`; `source` is one of session, file, environment, user, default, administrator."""

    name: str
    value: str | int | float | bool
    source: str
    fixed: bool
    limit: str | int | float | bool | None


class ServerView(TypedDict):
    """The server that prompts are sent to."""

    model: str
    """Name of the model; empty before the first run."""
    label: str
    remote: bool


class SettingsView(TypedDict):
    """The settings, and what they lead to."""

    values: list[SettingView]
    server: ServerView | None
    """None: a model is searched for on this machine at the first run."""
    problem: str
    """Why no run is possible, such as an administrator's policy that cannot be read; the rest is empty then."""


class ServedView(TypedDict):
    """`ModelServerStatus`."""

    base_url: str
    label: str
    remote: bool
    problem: str
    models: list[str]


class EmbeddedView(TypedDict):
    name: str
    problem: str


class UsageView(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    calls: int
    estimated: bool


# --- kernel -> page --------------------------------------------------------------------------------


class StateMessage(TypedDict):
    """Answer to `hello`; also sent every 5 s while a decision is waited for."""

    type: Literal["state"]
    protocol: int
    model: str
    approve: Literal["review", "ask", "auto"]
    settings: SettingsView
    sandbox: SandboxView | None
    context: ContextView
    runs: list[dict[str, Any]]
    """Runs of this kernel, oldest first, as `run_json.run_view` writes them."""
    proposals: list[ProposalView]
    grants: list[GrantView]
    progress: ProgressMessage | None
    """Progress of the current run, with its whole text."""


class RunMessage(TypedDict):
    """A run began, finished a step or ended. Replaces the page's state of it."""

    type: Literal["run"]
    run: dict[str, Any]


class ProgressMessage(TypedDict):
    """Progress of a run; sent at most 4 times a second."""

    type: Literal["progress"]
    run_id: str
    phase: Phase
    step: int
    stream: int
    """Number of the text; another number is another text."""
    offset: int
    """Where `text` begins in the whole text, in UTF-16 units; the page sends `missed` if it has less."""
    text: str
    """New part of the reply of this step, or of the code that runs or waits."""
    elapsed_s: float
    usage: UsageView
    calls: list[dict[str, Any]]
    """The last calls of this execution, as `run_json.call_view` writes them; `call_count` is the number of all."""
    call_count: int


class ProposalMessage(TypedDict):
    type: Literal["proposal"]
    proposal: ProposalView


class ResolvedMessage(TypedDict):
    """A proposal was decided, in this page or another place, or its run is over."""

    type: Literal["resolved"]
    proposal_id: str
    action: Literal["approve", "reject"]


class GrantsMessage(TypedDict):
    """All lasting approvals, after one was given or revoked."""

    type: Literal["grants"]
    grants: list[GrantView]


class DecidedMessage(TypedDict):
    """Somebody decided over a run's cells, and the history has it."""

    type: Literal["decided"]
    run_id: str
    state: CellState
    session: str
    """Session of the page that decided, which has changed its notebook already; empty for a command in a cell."""


class InsertMessage(TypedDict):
    """Insert cells (nbformat 4.5 dicts with ids made by the kernel) below the anchor cell, as one undo step."""

    type: Literal["insert"]
    id: str
    run_id: str
    anchor: str | None
    """Id of the `%%agent` cell; if it is gone, the cells are added at the end of the notebook."""
    replace: list[str]
    """Earlier runs of the same cell: their cells that are still pending are removed in the same transaction."""
    unless: list[str]
    """Runs of the same code that were kept: nothing is inserted where the notebook has cells of one of them."""
    cells: list[dict[str, Any]]


class MarkMessage(TypedDict):
    """Set the state of a run's cells; `discarded` removes those that are pending. From `%agent accept RUN`."""

    type: Literal["mark"]
    id: str
    run_id: str
    state: Literal["accepted", "discarded"]


class AskMessage(TypedDict):
    """Insert a question from a chat as a cell of the user's below the active one. Acknowledged by `asked`."""

    type: Literal["ask"]
    id: str
    notebook: str
    """Path of the notebook, as the server knows it."""
    cell_id: str
    source: str
    runs: bool
    """Whether the page runs the cell; when it has, it sends `ask_ended`."""


class PulledMessage(TypedDict):
    """Answer to `pull`: the variable is in the user's kernel now, or why not."""

    type: Literal["pulled"]
    id: str
    run_id: str
    name: str
    ok: bool
    text: str


class EffectsMessage(TypedDict):
    """Answer to `find_effects`."""

    type: Literal["effects"]
    id: str
    effects: EffectsView


class PingMessage(TypedDict):
    type: Literal["ping"]


class ContextMessage(TypedDict):
    """A cell has changed variables, or the user has switched one. Replaces the context in the state."""

    type: Literal["context"]
    context: ContextView
    heard: str
    """Id of the switch that caused the message; empty for other causes."""


class ColumnsMessage(TypedDict):
    """Answer to `find_columns`: the first ones that match."""

    type: Literal["columns"]
    name: str
    search: str
    columns: list[ColumnView]
    column_count: int
    """Number of columns that match."""


class ModelsMessage(TypedDict):
    """Answer to `find_models`: the servers that answered just now, and those that the user named."""

    type: Literal["models"]
    servers: list[ServedView]
    embedded: EmbeddedView
    looked: bool
    """Whether the usual ports of this machine were tried."""


class RefusedMessage(TypedDict):
    """A `choose` or `use_model` that failed, or preferences that were not accepted, and why."""

    type: Literal["refused"]
    text: str


class UnrecordedMessage(TypedDict):
    """To the page whose `cell_state` or `applied` the history could not record, and why; it was done."""

    type: Literal["unrecorded"]
    run_id: str
    what: CellState | Literal["applied"]
    text: str


# --- page -> kernel --------------------------------------------------------------------------------


class HelloMessage(TypedDict):
    """Data of `comm_open`."""

    type: Literal["hello"]
    protocol: int
    session: str
    """`kernel.clientId` of the page: equals the session in the header of the cells it runs."""
    notebook: str | None
    sharing: NotRequired[SharingView]
    """The lists in the metadata of the page's notebook; see `SharingMessage`."""
    preferences: NotRequired[dict[str, str | int | float | bool]]
    """See `PreferencesMessage`."""
    web_client: NotRequired[str]
    """The name under which Jupyter AI knows the page, where it is installed."""


class PongMessage(TypedDict):
    type: Literal["pong"]


class DecisionMessage(TypedDict):
    type: Literal["decision"]
    proposal_id: str
    action: Literal["approve", "reject"]
    code: NotRequired[str]
    """The code as the person edited it."""
    reason: NotRequired[str]
    scope: NotRequired[DecisionScope]
    calls: NotRequired[int]
    """With the scope ``run``: the number of calls."""


class TakeBackMessage(TypedDict):
    """The user revokes a lasting approval."""

    type: Literal["take_back"]
    kind: GrantKind
    subject: str


class FindEffectsMessage(TypedDict):
    """A question, before code runs in the user's kernel or after an edit: which names would it change there."""

    type: Literal["find_effects"]
    id: str
    code: str
    in_kernel: bool
    """Whether it would run in the user's kernel; else in the sandbox, on copies."""


class AppliedMessage(TypedDict):
    """The user approved running a run's code in their own kernel; the page does it."""

    type: Literal["applied"]
    run_id: str
    code: str
    """Code of the cell, which the user may have edited."""


class StopMessage(TypedDict):
    type: Literal["stop"]
    run_id: str


class MissedMessage(TypedDict):
    """A part of the growing text did not arrive; the answer is a `progress` with all of it."""

    type: Literal["missed"]
    run_id: str


class InsertedMessage(TypedDict):
    """Acknowledgement of `insert`."""

    type: Literal["inserted"]
    id: str
    ok: bool
    cell_ids: list[str]
    """Ids of the cells that are there now; empty if cells of other runs are kept (`unless`)."""
    problem: str


class MarkedMessage(TypedDict):
    """Acknowledgement of `mark`."""

    type: Literal["marked"]
    id: str
    ok: bool
    cell_ids: list[str]
    problem: str


class AskedMessage(TypedDict):
    """Acknowledgement of `ask`."""

    type: Literal["asked"]
    id: str
    ok: bool
    cell_ids: list[str]
    problem: str


class AskEndedMessage(TypedDict):
    """The cell of an `ask` has run, or the kernel gave it up since a cell before it had failed."""

    type: Literal["ask_ended"]
    id: str


class CellStateMessage(TypedDict):
    """The user accepted, edited or discarded a run's cell in the notebook or the panel."""

    type: Literal["cell_state"]
    run_id: str
    state: CellState


class ShareMessage(TypedDict):
    """The user's switch for one variable."""

    type: Literal["share"]
    id: str
    name: str
    shared: Shared


class ShareColumnsMessage(TypedDict):
    """The user's switches for columns of one variable."""

    type: Literal["share_columns"]
    id: str
    name: str
    columns: list[str]
    hidden: bool


class FindColumnsMessage(TypedDict):
    """Columns whose name contains the text, ignoring case."""

    type: Literal["find_columns"]
    name: str
    search: str


class SharingMessage(TypedDict):
    """The lists in the metadata of a notebook that was opened on this kernel after the page's hello.

    Variables that are `shared` are included only if a person chose so in this page: the notebook may be another's.
    """

    type: Literal["sharing"]
    sharing: SharingView


class PullMessage(TypedDict):
    """The button beside a result: copy this variable of the sandbox into the user's kernel."""

    type: Literal["pull"]
    id: str
    run_id: str
    name: str


class FindModelsMessage(TypedDict):
    """Ask the named servers and the usual ports of this machine for their models."""

    type: Literal["find_models"]


class UseModelMessage(TypedDict):
    """Use this model of this server from now on, in this kernel."""

    type: Literal["use_model"]
    model: str
    base_url: str
    """Address of the server; empty for the embedded model."""
    confirmed: str
    """Label of a remote server that the user approved; else empty."""


class ChooseMessage(TypedDict):
    """Set one setting in this kernel."""

    type: Literal["choose"]
    name: str
    value: str | int | float | bool


class PreferencesMessage(TypedDict):
    """The user's settings of JupyterLab have changed. They come from there alone, never from a notebook."""

    type: Literal["preferences"]
    preferences: dict[str, str | int | float | bool]


ToPage = (
    StateMessage
    | RunMessage
    | ProgressMessage
    | ProposalMessage
    | ResolvedMessage
    | GrantsMessage
    | InsertMessage
    | MarkMessage
    | AskMessage
    | DecidedMessage
    | PulledMessage
    | EffectsMessage
    | PingMessage
    | ContextMessage
    | ColumnsMessage
    | ModelsMessage
    | RefusedMessage
    | UnrecordedMessage
)
FromPage = (
    HelloMessage
    | PongMessage
    | DecisionMessage
    | TakeBackMessage
    | FindEffectsMessage
    | AppliedMessage
    | StopMessage
    | MissedMessage
    | InsertedMessage
    | MarkedMessage
    | AskedMessage
    | AskEndedMessage
    | CellStateMessage
    | PullMessage
    | ShareMessage
    | ShareColumnsMessage
    | FindColumnsMessage
    | SharingMessage
    | FindModelsMessage
    | UseModelMessage
    | ChooseMessage
    | PreferencesMessage
)


def grant_views(grants: Sequence[Grant]) -> list[GrantView]:
    return [GrantView(kind=grant.kind, subject=grant.subject) for grant in grants]


def proposal_view(proposal: Proposal) -> ProposalView:
    return ProposalView(
        id=proposal.id,
        run_id=proposal.run_id,
        kind=proposal.kind,
        code=proposal.code,
        note=proposal.note,
        why=proposal.why,
        previous_code=proposal.previous_code,
        effects=None if proposal.effects is None else effects_view(proposal.effects),
        step=proposal.step,
        calls=proposal.calls,
        scopes=list(scopes_of(proposal)),
        lasting=grant_views(proposal.lasting),
    )


def effects_view(effects: Effects) -> EffectsView:
    def named(values: Sequence[NamedValue]) -> list[NamedView]:
        return [NamedView(name=value.name, what=value.what) for value in values]

    return EffectsView(
        reads=named(effects.reads),
        creates=named(effects.creates),
        overwrites=named(effects.overwrites),
        changes=named(effects.changes),
        deletes=named(effects.deletes),
        missing=list(effects.missing),
        writes=list(effects.writes),
        unclear=list(effects.unclear),
    )
