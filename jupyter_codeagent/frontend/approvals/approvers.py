"""Approvers that need no browser: the terminal's stdin, and nobody."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from IPython.core.error import StdinNotImplementedError

from jupyter_codeagent.frontend.approvals.gate import reject
from jupyter_codeagent.frontend.approvals.policies import ALWAYS_ASK
from jupyter_codeagent.frontend.approvals.protocol import Approver
from jupyter_codeagent.notebook.effects import format_effects
from jupyter_codeagent.notebook.outputs import visible_code
from jupyter_codeagent.types.approvals import Decision, Effects, Proposal, ProposalKind

QUESTIONS: Mapping[ProposalKind, str] = {
    "run": "Run this code in the sandbox, apart from your kernel?",
    "apply": "Run this code in YOUR kernel?",
    "overwrite": "Overwrite your variables?",
    "mount": "Let the sandbox read your files?",
    "call": "Call your function in YOUR kernel?",
    "query": "Query your database?",
    "server": "Send your prompts to this model server?",
}
"""Questions in English; the panel has its own, in the user's language."""

INDENT = " " * 4
"""Before each line of code in a terminal."""

OnMainThread = Callable[[Callable[[], str]], Awaitable[str]]


class InformedApprover:
    """Looks up what the code would do to the user's names before it asks."""

    def __init__(self, approver: Approver, look: Callable[[Proposal], Awaitable[Effects | None]]) -> None:
        self._approver = approver
        self._look = look

    async def ask(self, proposal: Proposal) -> Decision:
        return await self._approver.ask(replace(proposal, effects=await self._look(proposal)))


class NobodyApprover:
    """Rejects everything: without a front end there is nobody to ask."""

    async def ask(self, proposal: Proposal) -> Decision:
        # Proposals that need approval under every policy are not helped by another policy.
        other = "use `--approve review` or `auto`, or " if proposal.kind not in ALWAYS_ASK else ""
        address = proposal.code.partition(" ")[0]
        if proposal.kind == "server" and "://" in address:
            other = f"give `jupyter codeagent run` the option `--allow-server {address}`, or "
        effects = "; ".join(format_effects(proposal.effects)) if proposal.effects is not None else ""
        return reject(
            proposal,
            "nobody",
            f"there is no side panel and no input to ask for approval; {other}open the notebook in JupyterLab "
            f"with the extension{f' ({effects})' if effects else ''}",
        )


class StdinApprover:
    """A question on stdin: terminal IPython, and any front end that can answer `input()`."""

    def __init__(self, on_main_thread: OnMainThread, write: Callable[[str], None] = print) -> None:
        self._on_main_thread = on_main_thread
        self._write = write

    async def ask(self, proposal: Proposal) -> Decision:
        of_it = {"call": "calls", "query": "queries"}.get(proposal.kind, "")
        number = f" / the number of such {of_it} to approve in this run" if of_it else ""

        def question() -> str:
            self._write(question_text(proposal))
            return input(f"Approve? [y]es / [N]o{number} / a reason for rejecting: ")

        try:
            answer = (await self._on_main_thread(question)).strip()
        except (StdinNotImplementedError, EOFError):
            # nbclient and papermill refuse stdin; a closed terminal gives EOF
            return await NobodyApprover().ask(proposal)
        yes = Decision(action="approve", code=proposal.code, decided_by="stdin", decided_at=time.time())
        if answer.lower() in ("y", "yes"):
            return yes
        if of_it and answer.isdecimal() and int(answer) > 0:
            return replace(yes, scope="run", calls=int(answer))
        reason = "" if answer.lower() in ("", "n", "no") else answer
        return reject(proposal, "stdin", reason)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A proposal as text, a line each; the code is in the middle."""

    head: tuple[str, ...]
    """What is asked, and why."""
    effects: tuple[str, ...]
    """What the code would do to the user's names; empty without code, or if it was not checked."""


def question_of(proposal: Proposal) -> Question:
    head = (QUESTIONS[proposal.kind], visible_code(proposal.note), visible_code(proposal.why))
    effects = format_effects(proposal.effects) if proposal.effects is not None else ()
    where = ("On copies in the sandbox:",) if proposal.kind == "run" and effects else ()
    return Question(head=tuple(line for line in head if line), effects=(*where, *effects))


def question_text(proposal: Proposal) -> str:
    """Return question, code and effects, for a terminal; the code is indented, so that no line of it looks ours."""
    question = question_of(proposal)
    code = textwrap.indent(visible_code(proposal.code), INDENT, lambda _: True)
    parts = ("\n".join(question.head), code, "\n".join(question.effects))
    return "\n\n".join(part for part in parts if part) + "\n"


class FirstAvailableApprover:
    """Asks in the panel if one is connected at that moment, else by the fallback."""

    def __init__(self, panel: Approver, fallback: Approver, is_panel_open: Callable[[], bool]) -> None:
        self._panel = panel
        self._fallback = fallback
        self._is_panel_open = is_panel_open

    async def ask(self, proposal: Proposal) -> Decision:
        return await (self._panel if self._is_panel_open() else self._fallback).ask(proposal)
