"""Which kernel a message of a chat is about, and whether the chat is one person's; in the Jupyter server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async

from jupyter_codeagent.entrypoints.kernel_clients.running_kernels import KernelAddress
from jupyter_codeagent.types.errors import UsageError

WEB_CLIENT = "web_client_id"
"""Key in a message's metadata: the page of a browser in which it was written."""
NOTEBOOK_INFO = "jupyterlab-ai-commands:get-notebook-info"
"""Command of Jupyter AI's JupyterLab; without an argument it is about the notebook that was in view last."""
REMOTE_DRIVE = "RTC:"
"""Before the path of a document of real-time collaboration."""
NO_NOTEBOOK = (
    "No notebook is in view: open the one with your variables beside the chat, or attach it to the message, then"
    " ask again."
)


def attached_notebook(message: Any, chat: Any) -> str:
    """Return the path of the notebook that is attached to a message; empty without one.

    Raises
    ------
    UsageError
        There are several.
    """
    known = chat.get_attachments()
    attached = [known[key] for key in message.attachments or () if key in known]
    paths = {one.value.removeprefix(REMOTE_DRIVE): None for one in attached if one.value.endswith(".ipynb")}
    if len(paths) > 1:
        raise UsageError(f"Several notebooks are attached ({', '.join(paths)}): attach the one that you mean.")
    return next(iter(paths), "")


def web_client_of(message: Any) -> str:
    """Return the page in which a message was written; empty if it does not say."""
    client = (message.metadata or {}).get(WEB_CLIENT)
    return client if isinstance(client, str) else ""


async def notebook_in_view(message: Any) -> str:
    """Return the path of the notebook in view in the page of a message; empty if there is none."""
    client = web_client_of(message)
    if not client:
        return ""  # sent by a program: any page could answer
    from jupyterlab_commands_toolkit.tools import execute_command, target_client_id

    token = target_client_id.set(client)
    try:
        told = await execute_command(NOTEBOOK_INFO)
    finally:
        target_client_id.reset(token)
    result = told.get("result") if told.get("success") else None
    path = result.get("notebookPath") if isinstance(result, Mapping) else None
    return path.removeprefix(REMOTE_DRIVE) if isinstance(path, str) else ""


def kernel_of(notebook: str, sessions: Sequence[Mapping[str, Any]], kernels: Any) -> KernelAddress:
    """Return where the kernel of a notebook is reached; `kernels` is the server's kernel manager.

    Raises
    ------
    UsageError
        It has none, it has died, or it runs on another machine.
    """
    found = [one["kernel"] for one in sessions if one.get("path") == notebook and one.get("kernel")]
    if not found:
        raise UsageError(
            "It has no kernel: start one, run `%load_ext jupyter_codeagent` in a cell, then ask again."
        )
    kernel_id = str(found[0]["id"])
    if found[0].get("execution_state") == "dead":
        raise UsageError("Its kernel has died: restart it, run `%load_ext jupyter_codeagent`, then ask again.")
    file = Path(str(getattr(kernels.get_kernel(kernel_id), "connection_file", "") or ""))
    if not file.is_file():
        raise UsageError(
            "Its kernel runs on another machine, where no chat reaches it: ask with %%agent in a cell."
        )
    return KernelAddress(kernel_id=kernel_id, connection_file=file, notebook=notebook)


async def is_private(chat: Any, authorizer: Any) -> bool:
    """Check whether all who are connected to a chat are one person, who may run code in kernels.

    The sender that a message names proves nothing, as any client may write one; connections are the server's.
    Without a list of them, as with real-time collaboration, a chat counts as shared.
    """
    connections = list(getattr(chat, "handlers", {}).values())
    if len({connection.current_user.username for connection in connections}) != 1:
        return False
    for connection in connections:
        may = authorizer.is_authorized(connection, connection.current_user, "execute", "kernels")
        if not await ensure_async(may):
            return False
    return True
