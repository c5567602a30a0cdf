"""Proposals that wait for a person, the decisions on them, and the grants that last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DecidedBy = Literal["policy", "panel", "widget", "stdin", "nobody"]
ApprovalPolicy = Literal["review", "ask", "auto"]
APPROVE_ORDER: tuple[ApprovalPolicy, ...] = ("ask", "review", "auto")
"""The strictest first."""
Apply = Literal["never", "ask"]
"""Whether code of a result may run in the live kernel."""
APPLY_ORDER: tuple[Apply, ...] = ("never", "ask")
"""The strictest first."""
ProposalKind = Literal["run", "apply", "overwrite", "mount", "call", "query", "server"]
"""Run code in the sandbox · run it in the live kernel · overwrite a live variable · let the sandbox read files ·
call a tool · ask a database · send prompts to a server."""
GrantKind = Literal["run", "mount", "call", "query", "server"]
"""The kinds of proposals for which an approval can last."""


@dataclass(frozen=True, kw_only=True)
class NamedValue:
    """A name and its value in brief: ``DataFrame 1000x4``, empty if that is not known."""

    name: str
    what: str = ""


@dataclass(frozen=True, kw_only=True)
class Effects:
    """Effects of code on the user's namespace, as far as its text reveals them. Never part of a prompt."""

    reads: tuple[NamedValue, ...] = ()
    creates: tuple[NamedValue, ...] = ()
    overwrites: tuple[NamedValue, ...] = ()
    changes: tuple[NamedValue, ...] = ()
    """Names whose value is changed in place."""
    deletes: tuple[NamedValue, ...] = ()
    missing: tuple[str, ...] = ()
    """Names that are read and do not exist."""
    writes: tuple[str, ...] = ()
    """Files that are written or removed, as the code names them."""
    unclear: tuple[str, ...] = ()
    """Reasons why more may happen than is listed; empty if there is none."""


@dataclass(frozen=True, kw_only=True)
class Grant:
    """An approval that lasts until the user takes it back or the kernel ends."""

    kind: GrantKind
    subject: str = ""
    """The function, file or server that it covers; empty where the kind is enough."""
    of: object = None
    """Identity of the subject: it differs when the name stands for something else, such as a redefined function."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A question that waits for a person's decision."""

    id: str
    run_id: str
    kind: ProposalKind
    code: str
    note: str
    """Details beyond the standard question of its kind (`QUESTIONS`); may be empty."""
    step: int = 0
    why: str = ""
    """Reason for the proposal: the error or the rejection before it."""
    previous_code: str = ""
    """Code of the previous attempt in this run."""
    effects: Effects | None = None
    """None where there is no code, or the code was not analysed yet."""
    calls: int = 1
    """Calls of this function that the program announces at once; an approval may cover all of them."""
    lasting: tuple[Grant, ...] = ()
    """Grants that an approval for the notebook would add; empty where each proposal is asked separately."""


DecisionScope = Literal["once", "run", "notebook"]
"""``run`` covers a number of calls of a function; ``notebook`` adds the lasting grants of the proposal."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The answer to a proposal."""

    action: Literal["approve", "reject"]
    code: str
    """Code that may run: the proposal's, or the person's edit of it."""
    decided_by: DecidedBy
    reason: str = ""
    scope: DecisionScope = "once"
    calls: int = 0
    """Number of calls that the scope ``run`` covers, this one included."""
    decided_at: float = 0.0
    """Seconds since the epoch."""
    edited: bool = False
    """Whether the person changed the code."""
