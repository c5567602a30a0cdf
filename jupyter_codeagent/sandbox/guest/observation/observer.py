"""The observer of one kernel: hooks the cells that the user's programs are, and counts what their calls do.

It never changes a value, and an error in it is reported instead of raised: the program runs as without it.
"""

from __future__ import annotations

import ast
import builtins
import copy
import time
import weakref
from dataclasses import dataclass, field
from typing import Any

from .call import Budget, Call, Operation, Origin
from .hooks import HOOKS, STORE, HookInserter, Site

MAX_OPERATIONS = 60
MAX_PER_SITE = 3
"""Times that one place of the program is observed: what is in a loop is counted, but not looked at each time."""
MAX_NESTED = 100
BUDGET_S = 0.08
"""Processor time for all counting in a cell, whatever else the machine does; calls after it have sizes only."""


@dataclass
class _State:
    """What is known of the present cell."""

    sites: list[Site] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    stack: list[Call] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    of_site: dict[int, Operation] = field(default_factory=dict)
    budget: Budget = field(default_factory=lambda: Budget(BUDGET_S))
    problem: str = ""


class Observer:
    """Hooks of one kernel; in `builtins` while a program runs, so that no name of the namespace is taken."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._armed = False
        self._state = _State()
        self._origins: dict[int, tuple[weakref.ref[Any], Origin]] = {}
        shell.events.register("pre_run_cell", self._begin)
        shell.ast_transformers.append(self)
        vars(builtins)[HOOKS] = self

    def close(self) -> None:
        """Observe no further cell."""
        self._shell.events.unregister("pre_run_cell", self._begin)
        self._shell.ast_transformers.remove(self)
        del vars(builtins)[HOOKS]

    def _begin(self, _: Any) -> None:
        self._armed, self._state = True, _State()

    def visit(self, tree: ast.Module) -> ast.Module:
        """Return the tree with hooks, for `InteractiveShell.ast_transformers`; requests of the host have none."""
        if not self._armed:
            return tree
        self._armed = False
        try:
            from .libraries import counted_methods

            # A copy: where hooks cannot be put in, the tree must be as it was.
            inserter = HookInserter(counted_methods())
            hooked: ast.Module = inserter.visit(copy.deepcopy(tree))
        except (Exception, RecursionError) as problem:  # noqa: BLE001  (the cell runs without hooks, and that is reported)
            self._state.problem = f"{type(problem).__name__}: {problem}"
            return tree
        self._state.sites, self._state.times = inserter.sites, [0] * len(inserter.sites)
        return hooked

    def report(self) -> dict[str, Any]:
        """Return the operations of the last cell, and why it was not observed."""
        state, self._state = self._state, _State()
        return {"operations": [one.as_json() for one in state.operations], "not_observed": state.problem}

    # --- hooks; each returns the value that it is given ---------------------------------------------

    def receiver(self, number: int, value: Any) -> Any:
        """Begin a call: `value` is what its method is called on."""
        state = self._state
        try:
            if number < len(state.times):
                state.times[number] += 1
                if state.times[number] <= MAX_PER_SITE and len(state.operations) < MAX_OPERATIONS:
                    if len(state.stack) > MAX_NESTED:
                        state.stack.clear()  # left over by calls that raised
                    state.stack.append(Call(number, state.sites[number], value, state.budget))
                elif (known := state.of_site.get(number)) is not None:
                    known.times = state.times[number]
        except Exception as problem:  # noqa: BLE001  (the program must run as without hooks)
            self._fail(problem)
        return value

    def argument(self, number: int, value: Any, key: int | str) -> Any:
        """Note an argument of the innermost call."""
        stack = self._state.stack
        if stack and stack[-1].number == number:
            stack[-1].arguments[key] = value
        return value

    def result(self, number: int, value: Any) -> Any:
        """End a call: count what it did."""
        stack = self._state.stack
        while stack and stack[-1].number != number:
            if not any(call.number == number for call in stack):
                return value
            stack.pop()
        if stack:
            self._count(stack.pop(), value)
        return value

    def stored(self, number: int, value: Any, frame: Any) -> Any:
        """Note that columns of `frame` are about to be assigned `value`."""
        state = self._state
        if number < len(state.times):
            state.times[number] += 1
            if state.times[number] <= MAX_PER_SITE and len(state.operations) < MAX_OPERATIONS:
                site = state.sites[number]
                assert site.name == STORE
                self._count(Call(number, site, frame, state.budget), value)
        return value

    def _count(self, call: Call, value: Any) -> None:
        state = self._state
        started = time.thread_time()
        try:
            from .libraries import observe

            call.result = value
            operation = observe(call, self._origin)
            self._remember(call.receiver if call.site.name == STORE else value, call.origin)
            if operation is not None:
                known = state.of_site.setdefault(call.number, operation)
                if known is operation or not known.is_alike(operation):
                    state.operations.append(operation)
                known.times = state.times[call.number]
        except Exception as problem:  # noqa: BLE001  (the program must run as without hooks)
            self._fail(problem)
        finally:
            state.budget.spend(time.thread_time() - started)

    def _fail(self, problem: Exception) -> None:
        self._state.problem = self._state.problem or f"{type(problem).__name__}: {problem}"

    # --- where a value comes from -------------------------------------------------------------------

    def _origin(self, value: Any) -> Origin:
        known = self._origins.get(id(value))
        return known[1] if known is not None and known[0]() is value else Origin()

    def _remember(self, value: Any, origin: Origin) -> None:
        if origin == Origin():
            return
        key = id(value)
        try:
            self._origins[key] = (weakref.ref(value, lambda _: self._origins.pop(key, None)), origin)
        except TypeError:
            return  # a number or a text
