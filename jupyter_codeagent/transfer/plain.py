"""Plain Python values from the JSON of `inside.plain`. Hostile: types are checked, nothing is looked up by name."""

from __future__ import annotations

import datetime
import decimal
import json
import re
from collections.abc import Callable
from typing import Any

from jupyter_codeagent.errors import RejectedDataError

MAX_DEPTH = 60
NUMPY_NUMBERS = re.compile(r"(bool|u?int(8|16|32|64)|float(16|32|64)|str\d{1,9})")
NUMPY_TIMES = re.compile(r"(datetime64|timedelta64)\[(Y|M|W|D|h|m|s|ms|us|ns)\]")


def parse_json(text: str, what: str) -> Any:
    """Raises RejectedDataError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise RejectedDataError(f"{what} from the sandbox is not JSON: {type(problem).__name__}.") from problem


def decode_plain(text: str) -> Any:
    """The value of a packed ``json``.

    Raises
    ------
    RejectedDataError
    """
    try:
        return decode(parse_json(text, "A value"), 0)
    except (ValueError, TypeError, ArithmeticError) as problem:  # such as hashing a list, or a day 40
        raise RejectedDataError(f"A value from the sandbox is not what it says: {problem}"[:300]) from problem


def decode(encoded: Any, depth: int) -> Any:
    """One value; raises ValueError or TypeError for what `inside.plain` would not have written."""
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    if encoded is None or isinstance(encoded, bool | int | float | str):
        return encoded
    if not isinstance(encoded, dict) or len(encoded) != 1:
        raise ValueError(f"neither a plain value nor a typed one: {str(encoded)[:60]}")
    [(kind, content)] = encoded.items()
    if kind in CONTAINERS:
        return CONTAINERS[kind]([decode(item, depth + 1) for item in _list(content)])
    if kind == "dict":
        pairs = [_list(pair, length=2) for pair in _list(content)]
        return {decode(key, depth + 1): decode(value, depth + 1) for key, value in pairs}
    if kind not in SCALARS:
        raise ValueError(f"unknown type {kind[:40]!r}")
    return SCALARS[kind](content)


def _list(content: Any, length: int | None = None) -> list[Any]:
    if not isinstance(content, list) or length not in (None, len(content)):
        raise ValueError(f"not a list{'' if length is None else f' of {length}'}")
    return content


def _text(content: Any) -> str:
    if not isinstance(content, str):
        raise TypeError("not text")
    return content


def _numpy(content: Any) -> Any:
    import numpy as np

    name, value = _list(content, length=2)
    if NUMPY_NUMBERS.fullmatch(_text(name)) and isinstance(value, bool | int | float | str):
        return np.str_(value) if name.startswith("str") else np.dtype(name).type(value)
    if (matched := NUMPY_TIMES.fullmatch(name)) and type(value) is int:
        return getattr(np, matched[1])(value, matched[2])
    raise ValueError(f"not a numpy scalar: {name[:40]!r}")


def _pandas(name: str) -> Callable[[Any], Any]:
    def build(content: Any) -> Any:
        import pandas as pd

        return pd.NaT if name == "NaTType" else getattr(pd, name)(_text(content)[:60])

    return build


CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
SCALARS: dict[str, Callable[[Any], Any]] = {
    "datetime": lambda content: datetime.datetime.fromisoformat(_text(content)),
    "date": lambda content: datetime.date.fromisoformat(_text(content)),
    "time": lambda content: datetime.time.fromisoformat(_text(content)),
    "timedelta": lambda content: datetime.timedelta(*[int(part) for part in _list(content, length=3)]),
    "Decimal": lambda content: decimal.Decimal(_text(content)[:1000]),
    "complex": lambda content: complex(*[float(part) for part in _list(content, length=2)]),
    "bytes": lambda content: bytes.fromhex(_text(content)),
    "numpy": _numpy,
    "pandas.Timestamp": _pandas("Timestamp"),
    "pandas.Timedelta": _pandas("Timedelta"),
    "pandas.NaTType": _pandas("NaTType"),
}
