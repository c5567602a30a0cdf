"""The MCP server: five tools; each call is handed to the kernel's session, which decides what is done and told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from jupyter_codeagent.entrypoints.kernel_clients.channels import open_channels
from jupyter_codeagent.entrypoints.kernel_clients.kernel_link import KernelLink
from jupyter_codeagent.entrypoints.kernel_clients.running_kernels import WantedKernel, find_kernel
from jupyter_codeagent.frontend.client_link import client_name
from jupyter_codeagent.types.errors import CodeAgentError
from jupyter_codeagent.types.version import installed_version
from jupyter_codeagent.variables.text import visible

MAX_CLIENTS = 4
INSTRUCTIONS = (
    "The user's Jupyter notebook. Your programs run in a sandbox, on copies of the user's variables: they have no "
    "network, change nothing of the user's, and call none of their functions. The user sees each run, may have to "
    "approve it, and decides alone what is kept: insert_cells only proposes cells."
)
Context = ServerRequestContext[Any]
_NAME = {"type": "string", "description": "Name of a variable."}
_RUN_ID = {"type": "string", "description": "Id of one of your runs."}


def _tool(
    name: str,
    description: str,
    properties: Mapping[str, Any],
    required: tuple[str, ...],
    *,
    only_reads: bool = True,
) -> Tool:
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    hints = ToolAnnotations(read_only_hint=only_reads, destructive_hint=False, open_world_hint=False)
    return Tool(name=name, description=description, input_schema=schema, annotations=hints)


TOOLS = (
    _tool("list_variables", "What the notebook's kernel has: names, types, columns, statistics.", {}, ()),
    _tool("describe", "One variable in more detail.", {"name": _NAME}, ("name",)),
    _tool(
        "run_on_copies",
        "Run a Python program in the sandbox on copies of variables, and get what it displays: print what you want "
        "to read. What it assigns stays for your next programs; each finds the copies as the variables are now.",
        {
            "code": {"type": "string", "description": "A whole program. Its first line is its title for the user."},
            "variables": {
                "type": "array",
                "items": {"type": "string"},
                "description": "What to copy; left out: what the program reads.",
            },
        },
        ("code",),
    ),
    _tool(
        "insert_cells",
        "Propose the program of a run and its result as a cell at the end of the notebook. The user accepts, edits "
        "or discards it.",
        {"run_id": _RUN_ID},
        ("run_id",),
        only_reads=False,
    ),
    _tool(
        "history",
        "Your runs in this kernel, the newest first, and what the user decided about their cells; of one its text.",
        {"run_id": _RUN_ID},
        (),
    ),
)


class KernelClients:
    """The links of the clients to the kernel that was named, which is looked for when a tool is called."""

    def __init__(self, wanted: WantedKernel) -> None:
        self._wanted = wanted
        self._links: dict[str, KernelLink] = {}
        """By the client's name, the one that called last at the end."""
        self._opening = asyncio.Lock()
        self._leaving: set[asyncio.Task[None]] = set()

    async def call(self, client: str, tool: str, arguments: Mapping[str, Any]) -> tuple[bool, str]:
        """Have the kernel answer; return whether it went well, and the text."""
        try:
            return await (await self._link(client)).call(tool, arguments)
        except CodeAgentError as problem:
            return False, str(problem)

    async def close(self) -> None:
        """Leave the kernel: what runs for clients is stopped."""
        while self._links:
            self._leave(next(iter(self._links)))
        if self._leaving:
            await asyncio.wait(self._leaving)

    async def _link(self, client: str) -> KernelLink:
        async with self._opening:
            if client in self._links and not self._links[client].is_open:
                self._leave(client)
            if client not in self._links:
                self._make_room()
                link = KernelLink(await open_channels(await find_kernel(self._wanted)))
                self._links[client] = link
                try:
                    await link.open(client)
                except BaseException:
                    self._leave(client)
                    raise
            link = self._links[client] = self._links.pop(client)
            return link

    def _make_room(self) -> None:
        """End the link that has been idle longest where there are as many as a kernel has sandboxes for."""
        idle = [name for name, link in self._links.items() if not link.is_calling]
        if len(self._links) >= MAX_CLIENTS:
            if not idle:
                raise CodeAgentError(f"{MAX_CLIENTS} clients are calling the kernel: call again when one is done.")
            self._leave(idle[0])

    def _leave(self, client: str) -> None:
        """End a link; not awaited, since the task that calls may be being cancelled."""
        task = asyncio.create_task(self._links.pop(client).close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)


def new_server(call: Callable[[str, str, Mapping[str, Any]], Awaitable[tuple[bool, str]]]) -> Server[Any]:
    """Return the server; `call` gets the client's name, the tool and its arguments."""

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=list(TOOLS))

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        told = context.session.client_params
        client = client_name(told.client_info.name if told is not None else "")
        ok, text = await call(client, params.name, params.arguments or {})
        return CallToolResult(content=[TextContent(type="text", text=cleaned(text))], is_error=not ok)

    return Server(
        "jupyter-codeagent",
        version=installed_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def cleaned(text: str) -> str:
    """Return text of the kernel without control characters and marks that nobody sees: it may end in a terminal."""
    return "\n".join(visible(line) for line in text.split("\n"))
