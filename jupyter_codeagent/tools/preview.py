"""Values as text for people: a Python literal if it says all of the value, else a brief one; never long.

Values may come from code in the sandbox, which can make small ones with an endless text: so no text is written in
full and then cut.

"""

from __future__ import annotations

import datetime
import decimal
import fractions
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.sandbox.data.outlines import Outline

MAX_VALUE_CHARS = 120
MAX_DEPTH = 20
MAX_BITS = 3000
"""Bits of a whole number up to which all digits are written."""
END_CHARS = 200
"""Characters kept from the end of a text that is cut, since a long beginning could hide it."""
EXACT = (
    datetime.date,
    datetime.datetime,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    complex,
)
"""Types whose `repr` is short and is Python."""
NUMPY_TIMES = frozenset({"datetime64", "timedelta64"})
PANDAS_SCALARS = frozenset({"Timestamp", "Timedelta", "Period", "NaTType", "NAType", "Interval"})


@dataclass(frozen=True, kw_only=True)
class Written:
    """A value as text."""

    text: str
    is_whole: bool
    """Whether the text says all of the value."""


def written(value: object, max_chars: int = MAX_VALUE_CHARS) -> Written:
    """Return a value as ``[1, Decimal('2.5')]``; in brief ``<DataFrame 24x5>``, ``<text of 30,000: 'D' … 'a'>``."""
    writer = _Writer(max_chars)
    try:
        writer.write(value, 0)
    except _InBriefError:
        return Written(text=f"<{_kind(value, max_chars)}>", is_whole=False)
    return Written(text="".join(writer.parts), is_whole=True)


def brief(value: object) -> str:
    """Return what a value is, for the record: ``DataFrame 24x5``, ``list of 3``, ``'JFK'``."""
    found = written(value)
    return found.text if found.is_whole else found.text[1:-1]


def of_python(value: Any) -> Any:
    """Return a NumPy scalar as Python's number or text; any other value as it is."""
    item = getattr(value, "item", None)
    is_scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0
    return item() if is_scalar and callable(item) else value


class _InBriefError(Exception):
    """The whole value has no text within its limits."""


class _Writer:
    def __init__(self, max_chars: int) -> None:
        self.parts: list[str] = []
        self._left = max_chars

    def write(self, value: object, depth: int) -> None:
        kind = type(value)
        if kind.__module__ == "numpy" and kind.__name__ in NUMPY_TIMES:
            self.add(_numpy_time(value))
            return
        if kind.__module__ == "numpy":
            value = of_python(value)
            kind = type(value)
        if depth > MAX_DEPTH:
            raise _InBriefError
        if kind in CONTAINERS:
            CONTAINERS[kind](self, value, depth)
        else:
            self.add(_scalar(value, self._left))

    def add(self, text: str) -> None:
        self._left -= len(text)
        if self._left < 0:
            raise _InBriefError
        self.parts.append(text)

    def items(self, values: Iterable[object], depth: int) -> None:
        for at, item in enumerate(values):
            if at:
                self.add(", ")
            self.write(item, depth + 1)


def _list(writer: _Writer, value: Any, depth: int) -> None:
    writer.add("[")
    writer.items(value, depth)
    writer.add("]")


def _tuple(writer: _Writer, value: Any, depth: int) -> None:
    writer.add("(")
    writer.items(value, depth)
    writer.add(",)" if len(value) == 1 else ")")


def _set(writer: _Writer, value: Any, depth: int) -> None:
    if not value:
        writer.add("set()")
        return
    writer.add("{")
    writer.items(value, depth)
    writer.add("}")


def _frozenset(writer: _Writer, value: Any, depth: int) -> None:
    writer.add("frozenset(")
    _list(writer, value, depth)
    writer.add(")")


def _dict(writer: _Writer, value: Any, depth: int) -> None:
    writer.add("{")
    for at, (key, item) in enumerate(value.items()):
        if at:
            writer.add(", ")
        writer.write(key, depth + 1)
        writer.add(": ")
        writer.write(item, depth + 1)
    writer.add("}")


CONTAINERS: dict[type, Callable[[_Writer, Any, int], None]] = {
    list: _list,
    tuple: _tuple,
    set: _set,
    frozenset: _frozenset,
    dict: _dict,
}


def _scalar(value: object, max_chars: int) -> str:
    kind = type(value)
    if value is None or kind in (bool, float):
        return repr(value)
    if isinstance(value, int) and kind is int and value.bit_length() <= MAX_BITS:
        return repr(value)
    if isinstance(value, str | bytes) and kind in (str, bytes) and len(value) <= max_chars:
        return repr(value)
    if kind in EXACT or (kind.__module__.partition(".")[0] == "pandas" and kind.__name__ in PANDAS_SCALARS):
        try:
            return repr(value)
        except (
            Exception
        ) as problem:  # more digits than Python writes, a year that pandas cannot write with its zone
            raise _InBriefError from problem
    raise _InBriefError


def _numpy_time(value: Any) -> str:
    """Return a NumPy time with its unit, which a Python number lacks."""
    import numpy as np

    unit, _ = np.datetime_data(value.dtype)
    if type(value).__name__ == "timedelta64":
        return f"np.timedelta64({value.astype('int64')}, {unit!r})"
    return f"np.datetime64({str(value)!r}, {unit!r})"


def _kind(value: object, max_chars: int) -> str:
    """Return a text on what the value is and how much of it there is."""
    if isinstance(value, Outline):
        return _outline(value, max_chars)
    name = type(value).__name__
    if type(value) is str:
        kept_chars = max(max_chars - 2 * END_CHARS, max_chars // 2)
        end = repr(value[-min(END_CHARS, max_chars // 4) :])
        return f"text of {len(value):,}: {repr(value[:kept_chars])[: kept_chars + 2]} … {end}"
    if type(value) is int:
        return f"int of {value.bit_length():,} bits"
    try:
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple) and shape:
            return f"{name} {'x'.join(map(str, shape))}"
        if isinstance(value, list | tuple | set | frozenset | dict | bytes):
            return f"{name} of {len(value):,}"
    except Exception:  # noqa: BLE001  (code of the value's own class: its name has to do)
        return name
    return name


def _outline(value: Outline, max_chars: int) -> str:
    """Return ``DataFrame 24x5: 'id' int64, 'name' text, …``: as many of its columns as there is space for."""
    columns: list[str] = []
    left = max_chars - len(value.text)
    for detail in value.details:
        left -= len(detail) + 2
        if left < 0:
            columns.append("…")
            break
        columns.append(detail)
    return value.text + (f": {', '.join(columns)}" if columns else "")
