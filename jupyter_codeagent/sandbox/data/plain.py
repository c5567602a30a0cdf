"""Plain Python values from the JSON of `guest.plain`, which may be hostile: nothing is looked up by name."""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
import re
import uuid
import zoneinfo
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from jupyter_codeagent.notebook.outputs.interactive import is_deeper
from jupyter_codeagent.sandbox.data import outlines
from jupyter_codeagent.sandbox.data.outlines import Outline
from jupyter_codeagent.sandbox.data.rejection import rejecting_errors
from jupyter_codeagent.sandbox.data.sparse import build_masked, build_objects, build_sparse
from jupyter_codeagent.sandbox.data.zones import is_zone
from jupyter_codeagent.types.errors import RejectedDataError

MAX_DEPTH = 60
USED = object()
"""Replaces a part that has been used."""
MAX_SAME_HASH = 50
"""Keys that are made to collide take time that grows with their square; only a handful collide by chance."""
MAX_HEX = 100_000
MAX_FRACTION_HEX = 4_000
"""Limit for numerator and denominator: reducing a fraction takes time that grows with their square."""
MAX_SPECIFICATION_DEPTH = 100
NUMPY_NUMBERS = re.compile(r"(bool|u?int(8|16|32|64)|float(16|32|64)|str\d{1,9})")
NUMPY_COMPLEX = re.compile(r"complex(64|128)")
NUMPY_TIMES = re.compile(r"(datetime64|timedelta64)\[(Y|M|W|D|h|m|s|ms|us|ns)\]")
UNITS = ("s", "ms", "us", "ns")
MISMATCH = "A value from the sandbox does not match its description"


def parse_json(text: str, what: str) -> Any:
    """Parse JSON; duplicate keys are errors, since readers differ in which of them they take.

    Raises
    ------
    RejectedDataError
    """
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as problem:
        raise RejectedDataError(f"{what} from the sandbox is not JSON: {type(problem).__name__}.") from problem


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def decode_plain(text: str) -> Any:
    """Decode the value of a packed ``json``.

    Raises
    ------
    RejectedDataError
    """
    return decode_value(parse_json(text, "A value"), ())


def decode_value(encoded: Any, parts: Sequence[Any]) -> Any:
    """Decode a value, with `parts` in the places that refer to them.

    Raises
    ------
    RejectedDataError
    """
    with rejecting_errors(MISMATCH):
        return decode(encoded, 0, list(parts))


def decode(encoded: Any, depth: int, parts: list[Any]) -> Any:
    """Decode one value; raise any error for what `guest.plain` would not have written."""
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    if encoded is None or isinstance(encoded, bool | int | float | str):
        return encoded
    if not isinstance(encoded, dict) or len(encoded) != 1:
        raise ValueError(f"neither a plain value nor a typed one: {str(encoded)[:60]}")
    [(kind, content)] = encoded.items()
    if kind in CONTAINERS:
        return _container(kind, [decode(item, depth + 1, parts) for item in _list(content)])
    if kind == "dict":
        pairs = [_list(pair, length=2) for pair in _list(content)]
        keys = _distinct([decode(key, depth + 1, parts) for key, _ in pairs])
        return dict(zip(keys, (decode(value, depth + 1, parts) for _, value in pairs), strict=True))
    if kind == "object_array":
        shape, items = _list(content, length=2)
        return build_objects(_whole(shape), [decode(item, depth + 1, parts) for item in _list(items)])
    if kind in COMPOSED:
        return _composed(
            kind, [decode(part, depth + 1, parts) if isinstance(part, dict) else part for part in _list(content)]
        )
    if kind == "part":
        return _part(content, parts)
    if kind not in SCALARS:
        raise ValueError(f"unknown type {kind[:40]!r}")
    return SCALARS[kind](content)


def _composed(kind: str, made_of: list[Any]) -> Any:
    if any(isinstance(part, Outline) for part in made_of):
        return outlines.outline_composed(kind, made_of)
    return COMPOSED[kind](made_of)


def _container(kind: str, items: list[Any]) -> Any:
    return CONTAINERS[kind](_distinct(items) if kind in ("set", "frozenset") else items)


def _distinct(keys: list[Any]) -> list[Any]:
    """Return the keys; raise ValueError for duplicates, and for keys that were made to collide."""
    hashes = Counter(map(hash, keys))
    if hashes and max(hashes.values()) > MAX_SAME_HASH:
        raise ValueError("many keys have the same hash")
    if len(hashes) < len(keys) and len(set(keys)) < len(keys):
        raise ValueError("a key is given twice")
    return keys


def _part(content: Any, parts: list[Any]) -> Any:
    """Return a part, once only: a small message that repeats its parts could stand for an endless value."""
    if type(content) is not int or not 0 <= content < len(parts):
        raise ValueError(f"there is no part {str(content)[:20]}")
    if parts[content] is USED:
        raise ValueError(f"part {content} is referred to twice")
    value, parts[content] = parts[content], USED
    return value


def _list(content: Any, length: int | None = None) -> list[Any]:
    if not isinstance(content, list) or length not in (None, len(content)):
        raise ValueError(f"not a list{'' if length is None else f' of {length}'}")
    return content


def _whole(content: Any) -> list[int]:
    numbers = _list(content)
    if len(numbers) > 32 or any(type(number) is not int or number < 0 for number in numbers):
        raise ValueError("not a shape")
    return numbers


def _text(content: Any) -> str:
    if not isinstance(content, str):
        raise TypeError("not text")
    return content


def _hex(content: Any) -> int:
    if len(_text(content)) > MAX_HEX:
        raise ValueError(f"a whole number of more than {MAX_HEX:,} digits")
    return int(content, 16)


def _hexes(content: Any, length: int) -> list[int]:
    return [_hex(item) for item in _list(content, length)]


def _fraction(content: Any) -> fractions.Fraction:
    if any(len(_text(side)) > MAX_FRACTION_HEX for side in _list(content, 2)):
        raise ValueError(f"a fraction of more than {MAX_FRACTION_HEX:,} digits")
    return fractions.Fraction(*_hexes(content, 2))


def _numpy(content: Any) -> Any:
    import numpy as np

    name, value = _list(content, length=2)
    if NUMPY_NUMBERS.fullmatch(_text(name)) and isinstance(value, bool | int | float | str):
        return np.str_(value) if name.startswith("str") else np.dtype(name).type(value)
    if NUMPY_COMPLEX.fullmatch(name):
        return np.dtype(name).type(complex(*[float(part) for part in _list(value, length=2)]))
    if (matched := NUMPY_TIMES.fullmatch(name)) and type(value) is int:
        return getattr(np, matched[1])(value, matched[2])
    raise ValueError(f"not a numpy scalar: {name[:40]!r}")


def _zone(content: Any) -> datetime.tzinfo | None:
    """Return a time zone by its name, which `zoneinfo` does not take for a path, or by its distance from UTC."""
    if content is None:
        return None
    if isinstance(content, str):
        if not is_zone(content):
            raise ValueError(f"no time zone: {content[:40]!r}")
        return zoneinfo.ZoneInfo(content)
    return datetime.timezone(datetime.timedelta(seconds=float(content)))


def _datetime(content: Any) -> datetime.datetime:
    moment, zone, fold = _list(content, length=3)
    return datetime.datetime.fromisoformat(_text(moment)).replace(tzinfo=_zone(zone), fold=1 if fold else 0)


def _count_and_unit(count: Any, unit: Any) -> tuple[int, str]:
    if type(count) is not int or unit not in UNITS:
        raise ValueError("neither a count nor a unit of time")
    return count, unit


def _timestamp(content: Any) -> Any:
    import pandas as pd

    count, unit, zone = _list(content, length=3)
    count, unit = _count_and_unit(count, unit)
    return pd.Timestamp(count, unit=unit, tz=_zone(zone)).as_unit(unit)  # type: ignore[arg-type]


def _timedelta(content: Any) -> Any:
    import pandas as pd

    count, unit = _count_and_unit(*_list(content, length=2))
    return pd.Timedelta(count, unit=unit).as_unit(unit)  # type: ignore[arg-type]


def _period(content: Any) -> Any:
    import pandas as pd

    ordinal, freq = _list(content, length=2)
    if type(ordinal) is not int:
        raise TypeError("not a whole number")
    return pd.Period(ordinal=ordinal, freq=_text(freq)[:20])


def _missing(name: str) -> Callable[[Any], Any]:
    def build(_content: Any) -> Any:
        import pandas as pd

        return pd.NaT if name == "NaTType" else pd.NA

    return build


def _specification(content: Any) -> Any:
    """Return the specification of a chart, which is JSON as it is."""
    if not isinstance(content, dict) or is_deeper(content, MAX_SPECIFICATION_DEPTH):
        raise ValueError(f"not an object, or nested deeper than {MAX_SPECIFICATION_DEPTH}")
    return content


CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
COMPOSED: dict[str, Callable[[list[Any]], Any]] = {"masked_array": build_masked, "sparse": build_sparse}
SCALARS: dict[str, Callable[[Any], Any]] = {
    "int": _hex,
    "datetime": _datetime,
    "date": lambda content: datetime.date.fromisoformat(_text(content)),
    "time": lambda content: datetime.time.fromisoformat(_text(content)),
    "timedelta": lambda content: datetime.timedelta(*[int(part) for part in _list(content, length=3)]),
    "Decimal": lambda content: decimal.Decimal(_text(content)[:MAX_HEX]),
    "Fraction": _fraction,
    "UUID": lambda content: uuid.UUID(_text(content)),
    "range": lambda content: range(*_hexes(content, 3)),
    "complex": lambda content: complex(*[float(part) for part in _list(content, length=2)]),
    "bytes": lambda content: bytes.fromhex(_text(content)),
    "bytearray": lambda content: bytearray.fromhex(_text(content)),
    "numpy": _numpy,
    "specification": _specification,
    "pandas.Timestamp": _timestamp,
    "pandas.Timedelta": _timedelta,
    "pandas.Period": _period,
    "pandas.NaTType": _missing("NaTType"),
    "pandas.NAType": _missing("NAType"),
}
