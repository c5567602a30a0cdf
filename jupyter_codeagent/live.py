"""The user's own kernel: the one place where it is read, and where it is changed after a yes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Shell(Protocol):
    """What is needed of IPython's shell."""

    user_ns: dict[str, Any]
    user_ns_hidden: dict[str, Any]

    def ev(self, expr: str) -> Any: ...

    def run_cell(self, raw_cell: str, store_history: bool = False) -> Any: ...


class LiveKernel:
    """Main thread only."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def variables(self, hidden: Mapping[str, str]) -> dict[str, Any]:
        """The user's variables, without private ones, IPython's own, and those that `hidden` marks so."""
        own = self._shell.user_ns_hidden
        return {
            name: value
            for name, value in self._shell.user_ns.items()
            if not name.startswith("_")
            and hidden.get(name) != "hidden"
            and not (name in own and own[name] is value)
        }

    def has(self, name: str) -> bool:
        return name in self._shell.user_ns

    def evaluate(self, expression: str) -> Any:
        """An expression that the user wrote into the prompt."""
        return self._shell.ev(expression)

    def assign(self, name: str, value: Any) -> None:
        """Only after `--return` or `%agent pull`, and a yes if the name exists."""
        self._shell.user_ns[name] = value

    def run(self, code: str) -> None:
        """Only after a yes to this very code."""
        self._shell.run_cell(code, store_history=True)
