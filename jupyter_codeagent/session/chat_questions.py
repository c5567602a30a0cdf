"""Questions of a chat: each becomes a `%%agent` cell of the notebook in view, which a page inserts and runs.

What runs is that cell, like any other of the user's: its policies, decisions and record are the cell's. Here it is
only watched, stopped with its chat, and told as a model would be told it: a chat is a file, and others read it. All
on the background loop.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_codeagent.frontend.client_link import Tell
from jupyter_codeagent.frontend.client_messages import ChatAnswer, ChatQuestion
from jupyter_codeagent.frontend.display import PHASES
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import AskMessage
from jupyter_codeagent.frontend.receipt import receipt_of
from jupyter_codeagent.frontend.receipt_words import VERDICTS
from jupyter_codeagent.session.client_runs import BUSY_S, ClientRuns, is_schema
from jupyter_codeagent.session.current_run import CurrentRun
from jupyter_codeagent.session.prompt_masking import PromptMasking
from jupyter_codeagent.session.recorder import RunRecorder
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.session.settings_in_force import SettingsInForce
from jupyter_codeagent.settings.enforcement import refusal_of
from jupyter_codeagent.types.errors import CodeAgentError, DeniedError, InsertError, UsageError
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.variables import Privacy
from jupyter_codeagent.variables.privacy.masking import masked
from jupyter_codeagent.variables.text import visible

LOOK_S = 0.2
PAGE_S = 3.0
"""How long after a run's end its page may say so; one that is gone does not."""
MAX_PROMPT_CHARS = 10_000
NOT_LET_IN = "Chats may not use this kernel yet: run `%config CodeAgent.clients = True` in a cell, then ask again."
NO_PAGE = "No page of JupyterLab shows this notebook with the side panel. Open it, then ask again."
WAITS_IN_CELL = (
    "This chat is shared, and nobody can run a question for somebody else: it was added to the notebook as a cell"
    " that has not run. Whoever works in the notebook can run or delete it."
)
NOT_RUN = "The question was not asked because a cell before it failed. Its cell is in the notebook: run it there."
PENDING = "Its cells are pending in the notebook: accept, edit or discard them there."
UNDELIVERED = "Its cells could not be inserted: open the notebook again, or insert them from the side panel."
SCHEMA = "The result is not shown here, because privacy is set to schema; it is in the notebook."


@dataclass(frozen=True, kw_only=True)
class ChatQuestions:
    """Answers the calls of all chats of a session."""

    settings: SettingsInForce
    runs: ClientRuns
    run_log: RunLog
    current_run: CurrentRun
    masking: PromptMasking
    link: PanelLink | None
    _asked: dict[str, asyncio.Event] = field(default_factory=dict, init=False)
    """By the id of the question, which is that of its cell; set when the cell has run."""

    async def answer(self, chat: str, tool: str, arguments: Mapping[str, Any], tell: Tell) -> str:
        """Return a `ChatAnswer` as JSON; cancelled, the run of the question is stopped.

        Raises
        ------
        CodeAgentError
            One line that says what to do next.
        """
        match tool, arguments:
            case "ask", {"prompt": str(), "notebook": str(), "private": bool(), "web_client": str()}:
                return json.dumps(await self._ask(cast("ChatQuestion", arguments), tell))
        raise UsageError(
            "The chat and this kernel use different versions of jupyter-codeagent: install the same for both."
        )

    def ended(self, question: str) -> None:
        """Note that the cell of a question has run, or that the kernel gave it up."""
        self.current_run.take_stop(question)  # of one that was given up: a person may run its cell later
        if question in self._asked:
            self._asked[question].set()

    async def _ask(self, asked: ChatQuestion, tell: Tell) -> ChatAnswer:
        """Have a page insert the question and run it; one of a shared chat waits for whoever has the notebook."""
        settings = self.settings()
        if not settings.clients:
            raise DeniedError(refusal_of(settings.policy, "clients", "Use by chats") or NOT_LET_IN)
        link = self.link
        if link is None or not link.is_open:
            raise InsertError(NO_PAGE)
        question = uuid.uuid4().hex[:12]
        order = AskMessage(
            type="ask",
            id=question,
            notebook=asked["notebook"],
            cell_id=question,
            source=cell_source(asked["prompt"]),
            runs=asked["private"],
        )
        self._asked[question] = asyncio.Event()
        try:
            await link.ask_in_cell(order, web_client=asked["web_client"])
            if not asked["private"]:
                return ChatAnswer(above=[WAITS_IN_CELL], output="", below=[])
            run = await self._watch(question, tell)
        except asyncio.CancelledError:
            self._stop(question)
            raise
        finally:
            del self._asked[question]
        if run is None:
            return ChatAnswer(above=[NOT_RUN], output="", below=[])
        return await self._told(run)

    async def _watch(self, question: str, tell: Tell) -> AgentRun | None:
        """Tell what the run of a question does; return it at its end, None where its cell was given up."""
        told, over_s = "", 0.0
        while not self._asked[question].is_set() and over_s < PAGE_S:
            recorder, run = self._recorder_of(question), self.run_log.last_of_cell(question)
            over_s = over_s + LOOK_S if recorder is None and run is not None and run.ended else 0.0
            now = PHASES[recorder.latest.phase] if recorder is not None else "waiting for the kernel"
            if now != told:
                tell(now)
                told = now
            await asyncio.sleep(LOOK_S)
        return self.run_log.last_of_cell(question)

    # --- what is told -----------------------------------------------------------------------------------

    async def _told(self, run: AgentRun) -> ChatAnswer:
        privacy = self.settings().privacy
        above, output = [receipt_of(run).line], ""
        if run.status != "ok":
            above.append(await self._masked(run, run.error, privacy))
            return ChatAnswer(above=[line for line in above if line], output="", below=[])
        if run.verdict is not None:
            reason = "" if run.verdict.level == "checked" else await self._masked(run, run.verdict.reason, privacy)
            above.append(": ".join(filter(None, (VERDICTS[run.verdict.level], reason))))
        if is_schema(run, privacy):
            above.append(SCHEMA)
        elif run.steps and run.steps[-1].result is not None:
            output, _ = await self.runs.output_of(run, run.steps[-1], privacy)
        if run.placed == "cells":
            below = [PENDING] if run.cell_state == "pending" else []
        else:
            below = [UNDELIVERED] if run.placed == "undelivered" else []
        return ChatAnswer(above=above, output=output, below=below)

    async def _masked(self, run: AgentRun, text: str, privacy: Privacy) -> str:
        """Return a sentence about a run without personal values; empty where no value of its data may be told."""
        if all(step.result is None for step in run.steps):
            return text  # nothing ran: it is about settings, names and servers
        if is_schema(run, privacy):
            return ""
        try:
            async with asyncio.timeout(BUSY_S):
                return masked(text, await self.masking.values_in(text))
        except TimeoutError:
            raise CodeAgentError(
                "The run is done, but its result cannot be shown here while the kernel is busy: see the notebook."
            ) from None

    # --- stop -------------------------------------------------------------------------------------------

    def _recorder_of(self, question: str) -> RunRecorder | None:
        recorder = self.current_run.recorder
        is_it = recorder is not None and recorder.latest.run.request.cell_id == question
        return recorder if is_it else None

    def _stop(self, question: str) -> None:
        """Stop the run of a question; one that has not begun does not begin."""
        self.current_run.stop_cell(question)
        if self._recorder_of(question) is not None:
            self.current_run.take_stop(question)
            self.current_run.stop()


def cell_source(prompt: str) -> str:
    """Return the source of the cell that asks this.

    The prompt is its body: no line of it is an option, and `{{…}}`, which IPython would evaluate in the user's
    kernel, is text.

    Raises
    ------
    UsageError
        It is empty or too long.
    """
    text = "\n".join(visible(line) for line in prompt.splitlines()).strip()
    if not text:
        raise UsageError("There is no question in this message: write what you want to know about your variables.")
    if len(text) > MAX_PROMPT_CHARS:
        raise UsageError(
            f"The question has {len(text):,} characters; the limit is {MAX_PROMPT_CHARS:,}: shorten it."
        )
    return "%%agent\n" + text.replace("{{", "\\{{")
