"""Values of the sandbox's variables after the last result: each attempt starts from them, whatever one before did.

The copies of the user's variables are loaded again from their files by the host. What earlier programs made has no
file: it is remembered here before the first attempt of a run, and bound again before the next one.
"""

from __future__ import annotations

import copy
import types
from typing import Any

from .changes import State, is_untouched, set_state, state_of

MAX_COPIED_BYTES = 128 << 20
"""Limit for data that has to be copied; an object beyond it is bound again as the attempt left it."""
MAX_NAMES = 1000
MAX_ITEMS = 1000
"""Limit for the items of a list, dict or set that is copied."""
MAX_DEPTH = 3

_kept: dict[str, tuple[Any, State | None]] = {}
"""By name: the value, and what is known of it if it is a copy of a variable of the user's."""


def keep(namespace: dict[str, Any], hidden: Any = ()) -> None:
    """Remember the variables, in place of those before; copies that nothing has changed are not among them."""
    _kept.clear()
    copier = _Copier()
    for name in [name for name in namespace if _is_kept(name, namespace[name], hidden)][:MAX_NAMES]:
        _kept[name] = copier.copy(namespace[name]), state_of(name, namespace[name])


def restore(namespace: dict[str, Any]) -> None:
    """Bind the remembered variables as they were; those that are new since `keep` stay."""
    copier = _Copier()
    for name, (value, state) in _kept.items():
        namespace[name] = copier.copy(value)
        if state is not None:
            set_state(name, namespace[name], state)


def forget(name: str) -> None:
    """Forget a variable whose name has been given to a new copy."""
    _kept.pop(name, None)


def _is_kept(name: str, value: Any, hidden: Any) -> bool:
    if not isinstance(name, str) or name.startswith("_") or name in hidden:
        return False
    return not isinstance(value, types.ModuleType) and not is_untouched(name, value)


class _Copier:
    """Copies values of known kinds within `MAX_COPIED_BYTES`; two names of one object get one copy."""

    def __init__(self) -> None:
        self._left_bytes = MAX_COPIED_BYTES
        self._done: dict[int, tuple[Any, Any]] = {}
        """By `id`: the object, kept so that no other one gets its address, and its copy."""

    def copy(self, value: Any, depth: int = 0) -> Any:
        """Return a copy; the object itself where it cannot change in place, is of another kind or is too large."""
        if id(value) not in self._done:
            try:
                made = self._copy(value, depth)
            except Exception:  # noqa: BLE001  (a foreign type that only looks like a frame: its name is bound again)
                made = value
            self._done[id(value)] = value, made
        return self._done[id(value)][1]

    def _copy(self, value: Any, depth: int) -> Any:
        kind = type(value)
        library, name = kind.__module__.partition(".")[0], kind.__name__
        if library == "polars" and name in ("DataFrame", "Series"):
            return value.clone()
        if library == "pandas" and name in ("DataFrame", "Series"):
            if _copies_on_write():
                return value.copy(deep=False)
            usage = value.memory_usage()
            return value.copy() if self._fits(int(usage.sum() if name == "DataFrame" else usage)) else value
        if library == "numpy" and name == "ndarray":
            return value.copy() if self._fits(value.nbytes) else value
        if kind in (list, dict, set) and len(value) <= MAX_ITEMS and depth < MAX_DEPTH:
            return self._copy_items(value, depth + 1)
        return value

    def _copy_items(self, value: Any, depth: int) -> Any:
        if type(value) is dict:
            return {key: self.copy(item, depth) for key, item in value.items()}
        return [self.copy(item, depth) for item in value] if type(value) is list else copy.copy(value)

    def _fits(self, size_bytes: int) -> bool:
        self._left_bytes -= size_bytes
        return self._left_bytes >= 0


def _copies_on_write() -> bool:
    """Check whether pandas shares data until something changes it: always from version 3."""
    import pandas as pd

    return int(pd.__version__.partition(".")[0]) >= 3 or pd.options.mode.copy_on_write is True
