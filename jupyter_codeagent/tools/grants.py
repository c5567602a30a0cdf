"""What an approval of all calls of a function covers: the function that was asked about, not its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.approvals import Grant


def grant_of(tool: Tool) -> Grant:
    """Return the grant for all calls of a tool, or all queries of a database."""
    return Grant(
        kind="call" if tool.stub.kind == "function" else "query", subject=tool.name, of=SameFunction(tool.function)
    )


@dataclass(frozen=True, eq=False)
class SameFunction:
    """A function that equals itself and what the same cell defines again.

    That is a function of the same code and defaults, without a closure. A query function of another connection has
    the same code, but a closure, and is another one.
    """

    function: Callable[..., Any]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SameFunction):
            return NotImplemented
        known, now = self.function, other.function
        if known is now:
            return True
        code = getattr(known, "__code__", None)
        if code is None or getattr(known, "__closure__", None) or getattr(now, "__closure__", None):
            return False
        return bool(code == getattr(now, "__code__", None)) and _defaults(known) == _defaults(now)

    __hash__ = None  # type: ignore[assignment]


def _defaults(function: Callable[..., Any]) -> str:
    return repr((getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None)))
