"""Describers of what Python itself has: scalars, text, containers, dates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import islice
from typing import Any

from jupyter_codeagent.types.variables import Privacy, VariableSummary
from jupyter_codeagent.variables.columns import is_personal, is_plain, number_range
from jupyter_codeagent.variables.privacy.secret import carries_secret, private_text, secret_name
from jupyter_codeagent.variables.reading import (
    class_attribute,
    container_of,
    first,
    first_pairs,
    is_a,
    length,
    type_name,
    type_path,
)
from jupyter_codeagent.variables.text import looks_personal, quoted, safe

MAX_KEYS = 12
MAX_TEXT = 200
"""Longer text is told by its length."""
LOOKED_AT_ITEMS = 20
CHECKED_ITEMS = 500
"""What `carries_secret` looks at."""
MAX_DIGITS = 40
LOOKED_AT_BYTES = 1000


def describe_scalar(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """None, numbers, dates: the value itself, unless the mode or its name forbids."""
    kind = safe(type_name(type(value)), 60)
    text = scalar_text(value)
    hidden = privacy == "schema" or looks_personal(name) or secret_name(name, text) or private_text(text)
    shown = "" if hidden or not text else f" = {safe(text, MAX_DIGITS).strip()}"
    return summary(name, value, f"{name}: {kind}{shown}", copyable=not private_text(text))


def describe_text(name: str, value: str, privacy: Privacy) -> VariableSummary:
    """Short text itself; the length alone where the text or its name looks private."""
    text = str.__str__(value)
    private = looks_personal(name) or secret_name(name, text) or private_text(text)
    shown = f" {len(text)} characters" if private or len(text) > MAX_TEXT else f" = {quoted(text, 60)}"
    return summary(name, value, f"{name}: str{'' if privacy == 'schema' else shown}", copyable=_unasked(name, text))


def describe_bytes(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    kind: Any = bytes if is_a(value, bytes) else bytearray
    start = kind.__getitem__(value, slice(LOOKED_AT_BYTES))
    size = "" if privacy == "schema" else f" {kind.__len__(value)} bytes"
    return summary(
        name,
        value,
        f"{name}: {safe(type_name(type(value)), 60)}{size}",
        copyable=_unasked(name, start),
    )


def describe_sequence(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Length and the types of the first few elements; of numbers their range, of dicts their keys."""
    names = class_attribute(type(value), "_fields")
    if type(names) is tuple:
        return _describe_named_tuple(name, value, names, privacy)
    items = first(value, LOOKED_AT_ITEMS)
    text = _items_text(name, items, privacy, whole=length(value) <= LOOKED_AT_ITEMS)
    kind = safe(type_name(type(value)), 60)
    return summary(name, value, f"{name}: {kind} {length(value)}{text}", copyable=_unasked(name, value))


def describe_mapping(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """The first keys, as far as they are text and not private themselves, and the types of their values."""
    pairs, size = first_pairs(value, MAX_KEYS), length(value)
    keys = [key for key, _ in pairs if type(key) is str]
    hidden = privacy == "schema" or looks_personal(name) or is_personal(name, keys)
    told = "" if hidden or not keys else f" keys [{', '.join(map(_key, keys))}{', …' if size > len(keys) else ''}]"
    kind = safe(type_name(type(value)), 60)
    return summary(
        name,
        value,
        f"{name}: {kind}{told or f' {size}'}{_kinds_text([item for _, item in pairs])}",
        copyable=_unasked(name, value),
    )


def describe_range(name: str, value: range, privacy: Privacy) -> VariableSummary:
    shown = "" if privacy == "schema" else f" {value.start}..{value.stop} step {value.step}"
    return summary(name, value, f"{name}: range{shown}", copyable=True)


def describe_running(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """A generator, iterator or coroutine: looking into it would use it up."""
    return summary(name, value, f"{name}: {safe(type_name(type(value)), 60)} (not consumed)")


def scalar_text(value: Any) -> str:
    """`str` of a built-in number or date, or of the one a user's class is derived from; '' if there is none."""
    if is_plain(value):
        return _digits(value) if type(value) is int else str(value)
    for base in (int, float, complex):
        if base in type(value).__mro__:
            plain: Any = base.__repr__(value)
            return str(plain)
    return str(value) if type_path(type(value)).startswith(("pathlib.", "pandas.")) else ""


def summary(name: str, value: object, headline: str, *, copyable: bool = False) -> VariableSummary:
    return VariableSummary(
        name=name,
        type_name=safe(type_name(type(value)), 60),
        headline=headline,
        size_bytes=_own_bytes(value),
        copyable=copyable,
    )


def _describe_named_tuple(name: str, value: Any, labels: Sequence[object], privacy: Privacy) -> VariableSummary:
    pairs = zip(labels, tuple.__iter__(value), strict=False)
    fields = ", ".join(field_text(str(label), item, privacy) for label, item in islice(pairs, MAX_KEYS))
    return summary(name, value, f"{name}: {safe(type_name(type(value)), 60)}({fields})")


def field_text(label: str, value: object, privacy: Privacy) -> str:
    """One attribute: its value where that is short, plain and not private, else its type."""
    kind = type(value)
    shown = kind in (int, float, bool, str) and privacy != "schema" and not looks_personal(label)
    text = str(value)[: MAX_TEXT + 1] if shown and not (kind is int and int(value.bit_length()) > 100) else ""  # type: ignore[attr-defined]
    if not text or private_text(text) or secret_name(label, value):
        return f"{safe(label, 40)}: {safe(type_name(kind), 40)}"
    return f"{safe(label, 40)}={quoted(text) if kind is str else safe(text)}"


def _items_text(name: str, items: list[Any], privacy: Privacy, *, whole: bool) -> str:
    kinds = {type(item) for item in items}
    text = _kinds_text(items)
    if privacy == "schema" or looks_personal(name) or not kinds:
        return text
    if kinds == {dict}:
        keys = dict.fromkeys(key for item in items for key in first(item, MAX_KEYS) if type(key) is str)
        shown = list(keys)[:MAX_KEYS]
        return text if is_personal(name, shown) else f"{text} keys [{', '.join(map(_key, shown))}]"
    if whole and kinds <= {int, float} and not is_personal(name, items):
        numbers = [item for item in items if item == item]  # noqa: PLR0124 - without NaN
        return f"{text} {'..'.join(number_range(min(numbers), max(numbers)))}" if numbers else text
    return text


def _kinds_text(items: list[Any]) -> str:
    names = sorted({safe(type_name(type(item)), 40) for item in items})
    return f" of {', '.join(names[:3])}" if names else ""


def _digits(value: int) -> str:
    """Of a huge integer its size: to write it out is slow, and Python refuses it from 4,300 digits on."""
    return str(value) if value.bit_length() <= 130 else f"{value.bit_length()} bits"


def _key(key: str) -> str:
    return "***" if private_text(key) else quoted(key)


def _unasked(name: str, value: Any) -> bool:
    """May be copied when the prompt names it; what carries a secret only when ``--vars`` does."""
    kind = container_of(value)
    if kind is None or kind is type(value):
        return not carries_secret(name, value)
    # A subclass of the user's may do anything when it is asked for its items: a plain copy of the first is asked.
    plain = dict(first_pairs(value, CHECKED_ITEMS)) if kind is dict else first(value, CHECKED_ITEMS)
    return not carries_secret(name, plain)


def _own_bytes(value: object) -> int:
    """Of a class of the user's only what every object has: its `__sizeof__` is not called."""
    kind = type(value)
    return (
        sys.getsizeof(value, 0)
        if kind.__module__ in ("builtins", "datetime", "decimal")
        else object.__sizeof__(value)
    )


DESCRIBERS = {
    **dict.fromkeys(
        (
            *("builtins.NoneType", "builtins.bool", "builtins.int", "builtins.float", "builtins.complex"),
            *("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta", "decimal.Decimal"),
            *("fractions.Fraction", "uuid.UUID"),
            *("pandas.Timestamp", "pandas._libs.tslibs.timestamps.Timestamp"),
            *("pandas.Timedelta", "pandas._libs.tslibs.timedeltas.Timedelta"),
            *("pandas.Period", "pandas._libs.tslibs.period.Period"),
            *("pandas.Interval", "pandas._libs.interval.Interval"),
            *("pandas.api.typing.NAType", "pandas._libs.missing.NAType"),
            *("pandas.api.typing.NaTType", "pandas._libs.tslibs.nattype.NaTType"),
        ),
        describe_scalar,
    ),
    "builtins.str": describe_text,
    "builtins.bytes": describe_bytes,
    "builtins.bytearray": describe_bytes,
    **dict.fromkeys(
        ("builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "collections.deque"),
        describe_sequence,
    ),
    "builtins.dict": describe_mapping,
    "builtins.range": describe_range,
    **dict.fromkeys(
        (
            *("builtins.generator", "builtins.coroutine", "builtins.async_generator", "builtins.map"),
            *("builtins.filter", "builtins.zip", "builtins.enumerate", "_io._IOBase"),
        ),
        describe_running,
    ),
}
