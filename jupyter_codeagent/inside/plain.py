"""Plain Python values as JSON that says their types; the host's half is `transfer.plain`."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 50


class NoDataFormError(Exception):
    """The value, or something in it, is not data."""


def encode(value: Any, depth: int = 0) -> Any:
    """JSON for a value: itself for None, bool, int, float, str; ``{type: content}`` for all else.

    Raises
    ------
    NoDataFormError
    """
    if depth > MAX_DEPTH:
        raise NoDataFormError(f"it is nested deeper than {MAX_DEPTH}")
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind in (list, tuple, set, frozenset):
        return {kind.__name__: [encode(item, depth + 1) for item in value]}
    if kind is dict:
        return {"dict": [[encode(key, depth + 1), encode(item, depth + 1)] for key, item in value.items()]}
    if kind in SCALARS:
        return {kind.__name__: SCALARS[kind](value)}
    library = kind.__module__.partition(".")[0]
    if library == "numpy" and getattr(value, "shape", None) == ():
        return {"numpy": encode_numpy_scalar(value)}
    if library == "pandas" and kind.__name__ in ("Timestamp", "Timedelta", "NaTType"):
        return {f"pandas.{kind.__name__}": "NaT" if kind.__name__ == "NaTType" else value.isoformat()}
    raise NoDataFormError(f"{kind.__module__}.{kind.__qualname__} has no data form")


def encode_numpy_scalar(value: Any) -> list[Any]:
    """The name of its type and the Python value."""
    dtype = value.dtype
    if dtype.kind in "biufU" and (dtype.kind == "U" or dtype.itemsize <= 8):  # longer floats are not in JSON
        return [dtype.name, value.item()]
    if dtype.kind in "mM":
        return [dtype.name, int(value.astype("int64"))]
    raise NoDataFormError(f"a numpy {dtype.name} has no data form")


SCALARS: dict[type, Callable[[Any], Any]] = {
    datetime.datetime: datetime.datetime.isoformat,
    datetime.date: datetime.date.isoformat,
    datetime.time: datetime.time.isoformat,
    datetime.timedelta: lambda value: [value.days, value.seconds, value.microseconds],
    decimal.Decimal: str,
    complex: lambda value: [value.real, value.imag],
    bytes: bytes.hex,
}
