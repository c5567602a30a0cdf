"""One MCP server as a source of tools, through the official SDK: a program that is started here, or a URL.

Its tools become functions of the user's like any other. What it says of them (names, types, descriptions, hints) is
told and checked, never believed. The connection lives in one task of the background loop, as the SDK wants it.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from types import FunctionType
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.errors import CodeAgentError, UsageError
from jupyter_codeagent.tools.schema import FRAME, Shape, columns_of, returned_keys, safe_name, shape_of
from jupyter_codeagent.tools.tool import Tool, check_tool_name, tool_of
from jupyter_codeagent.tools.written import of_python
from jupyter_codeagent.values import ToolPolicy

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult
    from mcp.types import Tool as Described

Run = Callable[[Coroutine[Any, Any, Any]], Any]
Check = Callable[[Mapping[str, Any]], None]
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 5.0
LIST_TIMEOUT_S = 5.0
CALL_TIMEOUT_S = 300.0
MAX_PAGES = 20
MAX_TOOLS = 200
OF_SERVER = "__codeagent_mcp_server__"
NOT_INSTALLED = "MCP servers need the package mcp: pip install 'jupyter-codeagent[mcp]'."


class McpServer:
    """Connected by `start`, until `stop` or the end of the server. All methods belong to one event loop."""

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
        """By the server's name of it: what has not changed stays the same function."""
        self.tools: dict[str, Tool] = {}

    @property
    def is_there(self) -> bool:
        return self._task is not None and not self._task.done()

    async def start(self) -> None:
        """Raises CodeAgentError if it cannot be reached or offers nothing that can be called."""
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
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """End the connection, and the program behind it."""
        self._stopping.set()
        self.tools = {}
        if self._task is None:
            return
        # What a server that ends badly has to say is of no use any more: `wait` raises nothing.
        await asyncio.wait([self._task], timeout=STOP_TIMEOUT_S)
        if not self._task.done():  # it never answered: the connection is still being made
            self._task.cancel()
            await asyncio.wait([self._task], timeout=STOP_TIMEOUT_S)

    async def refresh(self) -> None:
        """The tools that it has now; none if it is gone."""
        client = self._client
        if client is None or not self.is_there:
            self.tools = {}
            return
        listed: list[Described] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            listed += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        tools: dict[str, Tool] = {}
        for described in listed[:MAX_TOOLS]:
            before, tool = self._known.get(described.name, (None, None))
            if tool is None or before != described or tool.name in tools:
                changed = self._tool(described, taken=frozenset(tools))
                tool = _not_looser(changed, tool)
            self._known[described.name] = (described, tool)
            tools[tool.name] = tool
        self.tools = tools

    async def _live(self, connected: asyncio.Future[None]) -> None:
        from mcp import Client

        try:
            async with Client(_transport(self._target)) as client:
                self._client = client
                connected.set_result(None)
                await self._stopping.wait()
        except Exception as problem:
            if connected.done():
                raise
            why = _reason(problem)
            connected.set_exception(CodeAgentError(f"The MCP server {self.name} cannot be reached: {why}."))
        finally:
            self._client = None
            self.tools = {}

    def _tool(self, described: Described, taken: frozenset[str]) -> Tool:
        returned = _returned(described.output_schema)
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
        notes = (described.description, shape.notes, f"Returns {keys}" if keys else "")
        function.__name__ = function.__qualname__ = name
        function.__doc__ = "\n\n".join(part for part in notes if part)
        function.__signature__ = shape.signature  # type: ignore[attr-defined]
        function.__dict__[OF_SERVER] = self.name
        tool = tool_of(function, name=name, policy=policy_of(self._policy, described))
        return replace(tool, coroutine=call, timeout_s=CALL_TIMEOUT_S)

    async def _call(self, name: str, shape: Shape, check: Check, arguments: Mapping[str, Any]) -> Any:
        client = self._client
        if client is None:
            raise ConnectionError(f"the MCP server {self.name} is gone")
        asked = {shape.properties[given]: plain(value) for given, value in arguments.items()}
        check(asked)
        result = await client.call_tool(name, asked)
        return value_of(result)


def _transport(target: Sequence[str]) -> Any:
    """What the SDK connects to. A program gets the few variables of our environment that the SDK passes on."""
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client

    first, *arguments = target
    if first.startswith(("http://", "https://")) and not arguments:
        return first
    if first in ("python", "python3"):  # the kernel's own, whatever PATH says: what is installed here is meant
        first = sys.executable
    # The kernel's own `sys.stderr` is no file that a process could write to.
    return stdio_client(StdioServerParameters(command=first, args=arguments), errlog=sys.__stderr__ or sys.stderr)


def is_of_server(value: object) -> bool:
    """Whether it is the function of an MCP server, which may be gone."""
    return isinstance(value, FunctionType) and OF_SERVER in value.__dict__


def policy_of(wanted: ToolPolicy, described: Described) -> ToolPolicy:
    """What the user wants of the server's tools; ``auto`` only of those that it calls read-only.

    A server's hints are its own word (MCP, tool annotations): they make a policy stricter, never looser.
    """
    hints = described.annotations
    is_read_only = hints is not None and hints.read_only_hint is True and hints.destructive_hint is not True
    return "ask" if wanted == "auto" and not is_read_only else wanted


def _not_looser(tool: Tool, before: Tool | None) -> Tool:
    """What has once been asked for is asked for until the user adds the server again."""
    if before is None or before.stub.policy == "auto":
        return tool
    return replace(tool, stub=replace(tool.stub, policy=before.stub.policy))


def plain(value: Any) -> Any:
    """An argument as JSON takes it. Raises TypeError."""
    value = of_python(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        named = {str(key): plain(one) for key, one in value.items()}
        if len(named) < len(value):
            raise TypeError("two keys of a dict are the same text: an MCP server would get one of them")
        return named
    written = getattr(value, "isoformat", None)
    if callable(written):
        return written()
    raise TypeError(f"a {type(value).__name__} cannot be sent to an MCP server: give plain values")


def value_of(result: CallToolResult) -> Any:
    """Structured content, else JSON in the text, else the text. RuntimeError for what the server calls an error."""
    text = "\n".join(block.text for block in result.content if block.type == "text")
    if result.is_error:
        raise RuntimeError(text or "the MCP server reports an error")
    structured = result.structured_content
    if structured is not None:
        return structured["result"] if set(structured) == {"result"} else structured
    others = [block.type for block in result.content if block.type != "text"]
    if others and not text:
        raise TypeError(f"the MCP server returned {', '.join(others)}, which code cannot use")
    try:
        return json.loads(text)
    except ValueError:
        return text


def as_frame(rows: Any, columns: Sequence[str]) -> Any:
    """Rows as a frame, which is what the stub says; as they came if the server does not keep to its schema."""
    import pandas as pd

    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return rows
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=list(columns))


def target_of(words: str) -> tuple[str, ...]:
    """Raises UsageError."""
    try:
        target = tuple(shlex.split(words))
    except ValueError as problem:
        raise UsageError(f"The command cannot be read: {problem}.") from problem
    if not target:
        raise UsageError("%agent mcp add NAME [auto] COMMAND … or URL: give what to start, or where it is.")
    return target


def checker_of(schema: Mapping[str, Any]) -> Check:
    """Raises TypeError with the first thing that is wrong: a call that cannot succeed is not sent.

    Made once for a tool: reading a schema takes 2 ms. It is a foreign program's: what it refers to elsewhere is not
    fetched, and patterns, which can take for ever, are left to the server.
    """
    import jsonschema
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable

    extend: Any = jsonschema.validators.extend
    kind = extend(jsonschema.validators.validator_for(schema), {"pattern": _leave_to_the_server})
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError:
        return _leave_to_the_server  # its own mistake: it checks what it gets
    if "patternProperties" in json.dumps(schema):
        return _leave_to_the_server
    validator = kind(schema, registry=REGISTRY)

    def check(arguments: Mapping[str, Any]) -> None:
        try:
            problem = jsonschema.exceptions.best_match(validator.iter_errors(dict(arguments)))
        except Unresolvable:
            return
        if problem is not None:
            at = "".join(f"[{part!r}]" for part in problem.absolute_path)
            raise TypeError(f"arguments{at}: {problem.message[:300]}")

    return check


def _leave_to_the_server(*_: object) -> None:
    """In place of a check of `jsonschema`."""


def _returned(schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    properties = schema.get("properties") if schema is not None else None
    if isinstance(properties, Mapping) and set(properties) == {"result"}:
        wrapped = properties["result"]
        return wrapped if isinstance(wrapped, Mapping) else None
    return schema


def _reason(problem: BaseException) -> str:
    """The first of what a group of exceptions holds, in a line."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return " ".join(str(problem).split())[:200] or type(problem).__name__
