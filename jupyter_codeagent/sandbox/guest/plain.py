"""Plain Python values as JSON with their types; the host's counterpart is `data.plain`."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import os
import uuid
import zoneinfo
from collections.abc import Callable
from typing import Any, Protocol

MAX_DEPTH = 50
MAX_DIGITS = 4000
"""Limit for an integer in JSON, below Python's own limit for parsing one."""
PLAINER_TYPES: dict[type, type] = {
    collections.OrderedDict: dict,
    collections.defaultdict: dict,
    collections.Counter: dict,
    collections.deque: list,
}
"""Types that come back as a plainer type, with a note."""


class NoDataFormError(Exception):
    """The value, or something in it, is not data."""


class EncodingContext(Protocol):
    """Receiver of what does not fit into the JSON of a value: parts in their own form, and notes on changes."""

    def attach(self, value: Any) -> Any:
        """Attach a part, and return JSON that refers to it; None where the value has no form of its own."""
        ...

    def note(self, text: str) -> None:
        """Note what was changed."""
        ...


def encode(value: Any, depth: int = 0, context: EncodingContext | None = None) -> Any:
    """Encode a value: as itself for None, bool, int, float, str; as ``{type: content}`` for all others.

    Raises
    ------
    NoDataFormError
    """
    if depth > MAX_DEPTH:
        raise NoDataFormError(f"it is nested deeper than {MAX_DEPTH}")
    kind = type(value)
    if value is None or kind in (bool, float, str):
        return value
    if kind is int:
        return value if value.bit_length() < MAX_DIGITS * 3 else {"int": hex(value)}
    if kind in (list, tuple, set, frozenset):
        return {kind.__name__: [encode(item, depth + 1, context) for item in value]}
    if kind is dict:
        pairs = [[encode(key, depth + 1, context), encode(item, depth + 1, context)] for key, item in value.items()]
        return {"dict": pairs}
    if kind in SCALARS:
        return {kind.__name__: SCALARS[kind](value)}
    if (found := _encode_library_scalar(value, kind)) is not None:
        return found
    if context is not None:
        return _plainer(value, kind, depth, context)
    raise no_data_form(kind)


def no_data_form(kind: type) -> NoDataFormError:
    """Return the error for a value such as a model, a function or a connection, which data cannot represent."""
    advice = ADVICE.get(kind.__name__, "`%agent apply` runs the code that makes it in your own kernel")
    return NoDataFormError(f"{kind.__module__}.{kind.__qualname__} has no data form; {advice}")


ADVICE = {
    "LazyFrame": "bring back what its collect() gives",
    "Axes": "bring back its figure",
    "generator": "bring back a list made of it",
}


def _plainer(value: Any, kind: type, depth: int, context: EncodingContext) -> Any:
    if (attached := context.attach(value)) is not None:
        return attached
    plainer = PLAINER_TYPES.get(kind)
    if plainer is None and isinstance(value, tuple) and hasattr(kind, "_fields"):
        plainer = tuple
    if plainer is None and isinstance(value, os.PathLike):
        plainer = str
    if plainer is None:
        raise no_data_form(kind)
    context.note(f"a {kind.__name__} became a {plainer.__name__}")
    return encode(plainer(value), depth, context)


def _encode_library_scalar(value: Any, kind: type) -> Any:
    """Encode scalars of numpy and pandas; return None for all others."""
    library = kind.__module__.partition(".")[0]
    if library == "numpy" and getattr(value, "shape", None) == () and kind.__name__ != "ndarray":
        return {"numpy": encode_numpy_scalar(value)}
    if library != "pandas":
        return None
    if kind.__name__ == "Timestamp":
        return {"pandas.Timestamp": [int(value.asm8.astype("int64")), value.unit, zone(value)]}
    if kind.__name__ == "Timedelta":
        return {"pandas.Timedelta": [int(value.asm8.astype("int64")), value.unit]}
    if kind.__name__ == "Period":
        return {"pandas.Period": [value.ordinal, value.freqstr]}
    if kind.__name__ in ("NaTType", "NAType"):
        return {f"pandas.{kind.__name__}": ""}
    return None


def encode_numpy_scalar(value: Any) -> list[Any]:
    """Return the name of the scalar's type and its Python value."""
    dtype = value.dtype
    if dtype.kind in "biufU" and (dtype.kind == "U" or dtype.itemsize <= 8):  # JSON has no longer floats
        return [dtype.name, value.item()]
    if dtype.kind in "mM":
        return [dtype.name, int(value.astype("int64"))]
    if dtype.kind == "c" and dtype.itemsize <= 16:
        return [dtype.name, [float(value.real), float(value.imag)]]
    raise NoDataFormError(f"a numpy {dtype.name} has no data form")


def zone(moment: Any) -> Any:
    """Return the name of the time zone, or seconds from UTC; None without one."""
    if moment.tzinfo is None:
        return None
    if isinstance(moment.tzinfo, zoneinfo.ZoneInfo) and moment.tzinfo.key:
        return moment.tzinfo.key
    return moment.utcoffset().total_seconds()


SCALARS: dict[type, Callable[[Any], Any]] = {
    datetime.datetime: lambda value: [value.replace(tzinfo=None).isoformat(), zone(value), value.fold],
    datetime.date: datetime.date.isoformat,
    datetime.time: datetime.time.isoformat,
    datetime.timedelta: lambda value: [value.days, value.seconds, value.microseconds],
    decimal.Decimal: str,
    fractions.Fraction: lambda value: [hex(value.numerator), hex(value.denominator)],
    uuid.UUID: str,
    range: lambda value: [hex(value.start), hex(value.stop), hex(value.step)],
    complex: lambda value: [value.real, value.imag],
    bytes: bytes.hex,
    bytearray: bytearray.hex,
}
