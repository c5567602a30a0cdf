"""One MCP server as a source of tools, through the official SDK: a program that is started here, or a URL.

Its tools become functions like the user's own. Their metadata (names, types, descriptions, hints) is passed
on and checked, never trusted. The connection lives in one task of the background loop, as the SDK requires.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from types import FunctionType
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.tools.checks import Check, checker_of
from jupyter_codeagent.tools.mcp_transport import transport_to
from jupyter_codeagent.tools.mcp_values import (
    as_frame,
    cleaned,
    plain,
    policy_after,
    policy_of,
    returned_schema,
    value_of,
    why_unusable,
)
from jupyter_codeagent.tools.schema import FRAME, Shape, columns_of, returned_keys, safe_name, shape_of
from jupyter_codeagent.tools.tool import Tool, check_tool_name, tool_of
from jupyter_codeagent.types.errors import CodeAgentError, UsageError
from jupyter_codeagent.types.variables import ToolPolicy
from jupyter_codeagent.variables.text import MAX_NAME_CHARS, safe

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import Tool as Described

Run = Callable[[Coroutine[Any, Any, Any]], Any]
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 5.0
LIST_TIMEOUT_S = 5.0
CALL_TIMEOUT_S = 300.0
MAX_PAGES = 20
MAX_TOOLS = 200
MAX_REASON_CHARS = 200
OF_SERVER = "__codeagent_mcp_server__"
NOT_INSTALLED = "MCP servers need the package mcp: pip install 'jupyter-codeagent[mcp]'."


class McpServer:
    """One server, connected from `start` until `stop` or its own end. All methods belong to one event loop."""

    def __init__(self, name: str, target: Sequence[str], policy: ToolPolicy, run: Run) -> None:
        """`target` is a command with its arguments, or one URL; `run` waits for a coroutine on the main thread."""
        self._run = run
        self.name = name
        self._target = tuple(target)
        self._policy: ToolPolicy = policy
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._known: dict[str, tuple[Described, Tool]] = {}
        """Tools by the name that the server has for them: an unchanged tool stays the same function."""
        self.tools: dict[str, Tool] = {}
        self.left_out: tuple[str, ...] = ()
        """Tools that are not offered, and why; a line each."""
        self.changed: tuple[str, ...] = ()
        """Tools that came or changed at the last refresh, and need approval although the policy is ``auto``."""
        self._gave_up = ""
        """Reason for the end of the connection."""

    @property
    def is_there(self) -> bool:
        return self._task is not None and not self._task.done()

    async def start(self) -> None:
        """Connect to the server; raise CodeAgentError if it cannot be reached or offers no tools to call."""
        try:
            import mcp  # noqa: F401
        except ImportError as problem:
            raise UsageError(NOT_INSTALLED) from problem
        connected: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(connected), name=f"MCP server {self.name}")
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                await asyncio.shield(connected)
                await self.refresh()
        except TimeoutError:
            await self.stop()
            raise CodeAgentError(
                f"The MCP server {self.name} did not answer within {START_TIMEOUT_S:.0f} s."
            ) from None
        except CodeAgentError:
            await self.stop()
            raise
        except Exception as problem:
            await self.stop()
            why = self._gave_up or f"it does not list its functions: {_reason(problem)}"
            raise CodeAgentError(f"The MCP server {self.name} cannot be used: {why}.") from problem
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """End the connection, and the program behind it."""
        self._stopping.set()
        self.tools = {}
        if self._task is None:
            return
        # What a server reports as it ends is of no use any more: `wait` raises nothing.
        await asyncio.wait([self._task], timeout=STOP_TIMEOUT_S)
        if not self._task.done():  # the server never answered: the connection is still being made
            self._task.cancel()
            await asyncio.wait([self._task], timeout=STOP_TIMEOUT_S)

    async def refresh(self) -> None:
        """Read the tools that the server has now; none if it is gone."""
        client = self._client
        if client is None or not self.is_there:
            self.tools = {}
            return
        listed = await self._listed(client)
        is_first = not self._known
        known, self._known = self._known, {}
        tools: dict[str, Tool] = {}
        left_out = [f"{len(listed) - MAX_TOOLS:,} more than {MAX_TOOLS}"] if len(listed) > MAX_TOOLS else []
        changed = []
        for described in listed[:MAX_TOOLS]:
            if why := why_unusable(described):
                left_out.append(f"{safe(described.name, MAX_NAME_CHARS)}: {why}")
                continue
            before, tool = known.get(described.name, (None, None))
            if tool is None or before != described or tool.name in tools:
                made = self._tool(described, taken=frozenset(tools))
                policy = policy_after(made.stub.policy, tool, is_first=is_first)
                if policy != made.stub.policy:
                    changed.append(made.name)
                tool = replace(made, stub=replace(made.stub, policy=policy))
            self._known[described.name] = (described, tool)
            tools[tool.name] = tool
        self.tools, self.left_out, self.changed = tools, tuple(left_out), tuple(changed)

    async def _listed(self, client: Client) -> list[Described]:
        """List the server's tools, a few more than are accepted, so that a note can count the others."""
        listed: list[Described] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            listed += page.tools
            cursor = page.next_cursor
            if not cursor or len(listed) > MAX_TOOLS:
                break
        return listed

    def _give_up(self, why: str) -> None:
        self._gave_up = why
        self._stopping.set()

    async def _live(self, connected: asyncio.Future[None]) -> None:
        from mcp import Client

        try:
            async with Client(transport_to(self._target, self._give_up)) as client:
                self._client = client
                connected.set_result(None)
                await self._stopping.wait()
        except Exception as problem:  # noqa: BLE001  (however the connection ends: what waits for it gets the reason)
            self._gave_up = self._gave_up or _reason(problem)
            if not connected.done():
                why = f"The MCP server {self.name} cannot be reached: {self._gave_up}."
                connected.set_exception(CodeAgentError(why))
        finally:
            self._client = None
            self.tools = {}

    def _tool(self, described: Described, taken: frozenset[str]) -> Tool:
        returned = returned_schema(described.output_schema)
        definitions = (described.output_schema or {}).get("$defs")
        known = definitions if isinstance(definitions, Mapping) else {}
        columns = columns_of(returned or {}, known) if find_spec("pandas") is not None else ()
        shape = shape_of(described.input_schema, FRAME if columns else returned)
        check = checker_of(described.input_schema)
        name = safe_name(described.name, taken)
        try:
            check_tool_name(name)
        except UsageError:
            name = safe_name(f"{self.name}_{described.name}", taken)

        async def call(*args: Any, **kwargs: Any) -> Any:
            value = await self._call(described.name, shape, check, shape.signature.bind(*args, **kwargs).arguments)
            return as_frame(value, columns) if columns else value

        def function(*args: Any, **kwargs: Any) -> Any:
            return self._run(call(*args, **kwargs))

        keys = returned_keys(returned or {}, known)
        notes = (cleaned(described.description or ""), shape.notes, f"Returns {keys}" if keys else "")
        function.__name__ = function.__qualname__ = name
        function.__doc__ = "\n\n".join(part for part in notes if part)
        function.__signature__ = shape.signature  # type: ignore[attr-defined]
        function.__dict__[OF_SERVER] = self.name
        tool = tool_of(function, name=name, policy=policy_of(self._policy, described))
        return replace(tool, coroutine=call, timeout_s=CALL_TIMEOUT_S)

    async def _call(self, name: str, shape: Shape, check: Check, arguments: Mapping[str, Any]) -> Any:
        from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult, InputRequiredResult
        from pydantic import TypeAdapter

        client = self._client
        if client is None:
            raise ConnectionError(f"the MCP server {self.name} is gone")
        asked = {shape.properties[given]: plain(value) for given, value in arguments.items()}
        check(asked)
        request = CallToolRequest(params=CallToolRequestParams(name=name, arguments=asked))
        # Not by `call_tool`, which checks the result against the server's own schema, patterns included:
        # a malicious one could block the loop for ever.
        kinds: TypeAdapter[Any] = TypeAdapter(CallToolResult | InputRequiredResult)
        try:
            result = await client.session.send_request(request, kinds)
        except Exception as problem:
            if self._gave_up:
                raise ConnectionError(f"the MCP server {self.name} is gone: {self._gave_up}") from problem
            raise
        if isinstance(result, InputRequiredResult):
            raise RuntimeError(f"the MCP server {self.name} asks for further input, which is not supported")
        return value_of(result)


def is_of_server(value: object) -> bool:
    """Check whether this is the function of an MCP server, which may be gone."""
    return isinstance(value, FunctionType) and OF_SERVER in value.__dict__


def target_of(words: str) -> tuple[str, ...]:
    """Split a command or URL into its parts; raise UsageError if it is empty or cannot be read."""
    try:
        target = tuple(shlex.split(words))
    except ValueError as problem:
        raise UsageError(f"The command cannot be read: {problem}.") from problem
    if not target:
        raise UsageError("%agent mcp add NAME [auto|ask|deny] COMMAND…|URL: give what to start, or where it is.")
    return target


def _reason(problem: BaseException) -> str:
    """Return the message of an exception in a line; of a group, that of its first one."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return safe(str(problem), MAX_REASON_CHARS).strip() or type(problem).__name__
