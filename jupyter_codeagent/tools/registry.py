"""The tools of this kernel. One kernel has one user, so there is one registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from jupyter_codeagent.tools.tool import Tool, tool_of
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.variables import ToolPolicy

Function = TypeVar("Function", bound=Callable[..., Any])


class ToolRegistry:
    """The tools of a kernel, which change at any time; a run works with those that there were when it began."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def add(self, tool: Tool) -> None:
        """Add a tool, in place of one of the same name: cells that declare a tool are run again."""
        self._tools[tool.name] = tool

    def remove(self, name: str) -> None:
        """Remove a tool; raise UsageError if none has this name."""
        if name not in self._tools:
            known = f"registered: {', '.join(self._tools)}" if self._tools else "none are registered"
            raise UsageError(f"No tool named {name!r}; {known}.")
        del self._tools[name]

    def tools(self) -> dict[str, Tool]:
        """Return the tools by name, sorted: the prompt must not change with the order of cells."""
        return dict(sorted(self._tools.items()))


REGISTRY = ToolRegistry()


@overload
def agent_tool(function: Function, /) -> Function: ...
@overload
def agent_tool(
    *,
    name: str = ...,
    policy: ToolPolicy = ...,
    undo: Callable[..., Any] | None = ...,
    timeout_s: float | None = ...,
) -> Callable[[Function], Function]: ...
def agent_tool(
    function: Any = None,
    /,
    *,
    name: str = "",
    policy: ToolPolicy = "ask",
    undo: Callable[..., Any] | None = None,
    timeout_s: float | None = None,
) -> Any:
    """Let code that `%%agent` runs in its sandbox call this function, which runs here, in your kernel.

    Parameters
    ----------
    name
        Under which the code calls it; the function's own by default.
    policy
        ``auto``: each call is made at once; for functions that only read. ``ask``: each waits for your yes.
        ``deny``: none is made, and the prompt does not mention it.
    undo
        ``undo(result, **arguments)`` takes back what a call did, when you say `%agent tool undo`: it gets what the
        call returned and all its arguments by name, defaults included.
    timeout_s
        Seconds after which a call is ended with a `TimeoutError` in the program; by default it may take as long as
        it takes, until you stop the cell. Code in C that looks for no signals ends when it is done.

    Raises
    ------
    UsageError
        The name means something else in Python, or the signature cannot be read.
    """
    if function is None:
        return lambda decorated: agent_tool(  # type: ignore[call-overload]
            decorated, name=name, policy=policy, undo=undo, timeout_s=timeout_s
        )
    REGISTRY.add(tool_of(function, name=name, policy=policy, undo=undo, timeout_s=timeout_s))
    return function
