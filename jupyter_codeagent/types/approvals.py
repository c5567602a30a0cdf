"""What waits for a person, what they decided, and which of their decisions last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DecidedBy = Literal["policy", "panel", "widget", "stdin", "nobody"]
ApprovalPolicy = Literal["review", "ask", "auto"]
ProposalKind = Literal["run", "apply", "overwrite", "mount", "call", "server"]
"""run code in the sandbox · in the live kernel · overwrite a live variable · show files to it · call a tool · send
prompts to a server."""
GrantKind = Literal["run", "mount", "call", "server"]
"""Those to which a yes can last."""


@dataclass(frozen=True, kw_only=True)
class NamedValue:
    """A name, and what it stands for: ``DataFrame 1000x4``, empty if that is not known."""

    name: str
    what: str = ""


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What code would do to the user's names, as far as its text tells. For the user's own eyes only."""

    reads: tuple[NamedValue, ...] = ()
    creates: tuple[NamedValue, ...] = ()
    overwrites: tuple[NamedValue, ...] = ()
    changes: tuple[NamedValue, ...] = ()
    """In place."""
    deletes: tuple[NamedValue, ...] = ()
    missing: tuple[str, ...] = ()
    """Read, but not there."""
    writes: tuple[str, ...] = ()
    """Files, as the code names them."""
    unclear: tuple[str, ...] = ()
    """Why more may happen than is listed; empty if nothing says so."""


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A yes that lasts: until the user takes it back, or the kernel ends."""

    kind: GrantKind
    subject: str = ""
    """The function, the file or the server that it is for; empty where the kind says all."""
    of: object = None
    """Equal as long as what the subject names is what was asked about: a function may be replaced by another."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Something that waits for a person."""

    id: str
    run_id: str
    kind: ProposalKind
    code: str
    note: str
    """What the question of its kind (`QUESTIONS`) does not say yet; may be empty."""
    step: int = 0
    why: str = ""
    """What led to it: the error or the no before."""
    previous_code: str = ""
    """Of the attempt before in this run."""
    effects: Effects | None = None
    """None where there is no code to look at, or it has not been looked at as yet."""
    calls: int = 1
    """Calls of this function that the program makes in one go, as it says; a yes may be for all of them."""
    lasting: tuple[Grant, ...] = ()
    """What a yes for the notebook would grant; empty where each is asked for."""


DecisionScope = Literal["once", "run", "notebook"]
"""``run`` is for calls of functions, with their number; ``notebook`` grants what the proposal names as lasting."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The answer to a proposal."""

    action: Literal["approve", "reject"]
    code: str
    """What may run: the proposal's code, or what the person made of it."""
    decided_by: DecidedBy
    reason: str = ""
    scope: DecisionScope = "once"
    calls: int = 0
    """With the scope ``run``: of so many calls of the function, this one included."""
    decided_at: float = 0.0
    """Seconds since the epoch."""
    edited: bool = False
    """The person changed the code: what runs is their text."""
