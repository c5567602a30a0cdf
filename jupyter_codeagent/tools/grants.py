"""The user's yeses for all calls of a function in this notebook: each for the function that was asked about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_codeagent.tools.tool import Tool


class Grants:
    """Of one kernel. Another function under the same name, or one whose code has changed, is asked for again."""

    def __init__(self) -> None:
        self._functions: dict[str, Callable[..., Any]] = {}
        self.unsure: set[str] = set()
        """Keys of calls that began and never returned, in any run: no yes to several covers one of them."""

    def add(self, tool: Tool) -> None:
        self._functions[tool.name] = tool.function

    def has(self, tool: Tool) -> bool:
        known = self._functions.get(tool.name)
        return known is not None and _is_same(known, tool.function)

    def remove(self, name: str) -> None:
        self._functions.pop(name, None)

    def clear(self) -> None:
        self._functions.clear()


def _is_same(known: Callable[..., Any], now: Callable[..., Any]) -> bool:
    """The same object, or made anew by the same cell: the same code and defaults, without variables from around it.

    A query function of another connection has the same code, and is another one.
    """
    if known is now:
        return True
    code = getattr(known, "__code__", None)
    if code is None or getattr(known, "__closure__", None) or getattr(now, "__closure__", None):
        return False
    return code == getattr(now, "__code__", None) and _defaults(known) == _defaults(now)


def _defaults(function: Callable[..., Any]) -> str:
    return repr((getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None)))
