"""The persona of Jupyter AI. It runs in the Jupyter server, where it only carries a question to a kernel.

Entry point of the group `jupyter_ai.personas`: imported where Jupyter AI is installed, by Jupyter AI alone.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from jupyter_ai_persona_manager import BasePersona, PersonaDefaults
from jupyter_core.utils import ensure_async

from jupyter_codeagent.entrypoints.chat_persona.places import (
    NO_NOTEBOOK,
    attached_notebook,
    is_private,
    kernel_of,
    notebook_in_view,
    web_client_of,
)
from jupyter_codeagent.entrypoints.chat_persona.reply import answer_markdown, plain
from jupyter_codeagent.entrypoints.kernel_clients.channels import open_channels
from jupyter_codeagent.entrypoints.kernel_clients.kernel_link import GONE, NOT_LOADED, RESTARTED, KernelLink
from jupyter_codeagent.entrypoints.kernel_clients.running_kernels import KernelAddress
from jupyter_codeagent.frontend.client_messages import ChatAnswer, ChatQuestion
from jupyter_codeagent.types.errors import CodeAgentError

NAME = "codeagent"
STOPPED = "Stopped."
FOR_PEOPLE = {
    NOT_LOADED: "The agent is not loaded: run `%load_ext jupyter_codeagent` in a cell, then ask again.",
    GONE: "The kernel does not answer: it has died or is busy with a cell. Check it, then ask again.",
    RESTARTED: "The kernel was restarted or has ended: run `%load_ext jupyter_codeagent` in it, then ask again.",
}
"""What the link says to the model of an MCP client, in words for whoever reads the chat."""


class CodeAgentPersona(BasePersona):  # type: ignore[misc]  # Any without Jupyter AI
    """Asks in the notebook in view; tells receipt, verdict and what a model would be told of the result."""

    def __init__(self, *args: Any, **keys: Any) -> None:
        super().__init__(*args, **keys)
        self._asking: asyncio.Task[str] | None = None

    @property
    def defaults(self) -> PersonaDefaults:
        return PersonaDefaults(
            name=NAME,
            description="Asks in the notebook in view: its code runs in a sandbox, on copies, and you decide.",
            avatar_path=str(Path(__file__).with_name("avatar.svg")),
            system_prompt="",
        )

    async def process_message(self, message: Any) -> None:
        """Answer a message; one at a time, as Jupyter AI sees to."""
        self._asking = asyncio.create_task(self._answer(message))
        try:
            reply = await self._asking
        except asyncio.CancelledError:
            if not self._asking.cancelled():
                raise  # the chat ends, not the answer
            reply = STOPPED
        finally:
            self._asking.cancel()
            self._asking = None
            self.clear_status()
        self.send_message(reply)

    async def cancel_response(self) -> None:
        """Stop the run: the Stop of the chat."""
        if self._asking is not None:
            self._asking.cancel()

    async def shutdown(self) -> None:
        """Stop with the chat."""
        await self.cancel_response()
        await super().shutdown()

    async def _answer(self, message: Any) -> str:
        """Return the reply, as Markdown."""
        from jupyter_server.serverapp import ServerApp  # in whose process this runs

        notebook = ""
        try:
            notebook = attached_notebook(message, self.chat) or await notebook_in_view(message)
            if not notebook:
                return plain(NO_NOTEBOOK)
            server = ServerApp.instance()
            sessions = await ensure_async(server.session_manager.list_sessions())
            kernel = kernel_of(notebook, sessions, server.kernel_manager)
            private = await is_private(self.chat, server.authorizer)
            question = ChatQuestion(
                prompt=question_of(message.body),
                notebook=notebook,
                private=private,
                web_client=web_client_of(message),
            )
            answer = await self._ask(kernel, question)
        except CodeAgentError as problem:
            told = FOR_PEOPLE.get(str(problem), str(problem))
            return plain(f"{notebook}: {told}" if notebook else told)
        return answer_markdown(answer, notebook)

    async def _ask(self, kernel: KernelAddress, question: ChatQuestion) -> ChatAnswer:
        link = KernelLink(await open_channels(kernel), told=lambda text: self.set_status(f"· {text} …"))
        try:
            await link.open(f"{Path(self.get_chat_path(relative=True)).name} (chat)", "chat")
            ok, text = await link.call("ask", dict(question))
        finally:
            await link.close()
        if not ok:
            raise CodeAgentError(text)
        answer: ChatAnswer = json.loads(text)
        return answer


def question_of(body: str) -> str:
    """Return the question of a message, without the mention that it may begin with."""
    return re.sub(rf"\s*@{NAME}\b[,:]?\s*", "", body, count=1) if re.match(rf"\s*@{NAME}\b", body) else body
