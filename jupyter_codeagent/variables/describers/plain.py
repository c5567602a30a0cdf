"""Describers of Python's own types: scalars, text, containers, dates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import islice
from typing import Any

from jupyter_codeagent.types.variables import Privacy, VariableSummary
from jupyter_codeagent.variables.columns import is_personal, is_plain, number_range
from jupyter_codeagent.variables.introspection import (
    class_attribute,
    container_of,
    first,
    first_pairs,
    is_a,
    length,
    type_name,
    type_path,
)
from jupyter_codeagent.variables.privacy.secret import carries_secret, private_text, secret_name
from jupyter_codeagent.variables.text import looks_personal, quoted, safe

MAX_KEYS = 12
MAX_TEXT = 200
"""Longer text is described by its length."""
SAMPLE_ITEMS = 20
CHECKED_ITEMS = 500
"""Items that `carries_secret` checks."""
MAX_DIGITS = 40
CHECKED_BYTES = 1000


def describe_scalar(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe None, a number or a date by its value, unless the privacy mode or its name forbids that."""
    kind = safe(type_name(type(value)), 60)
    text = scalar_text(value)
    hidden = privacy == "schema" or looks_personal(name) or secret_name(name, text) or private_text(text)
    value_text = "" if hidden or not text else f" = {safe(text, MAX_DIGITS).strip()}"
    return summary(name, value, f"{name}: {kind}{value_text}", copyable=not private_text(text))


def describe_text(name: str, value: str, privacy: Privacy) -> VariableSummary:
    """Describe text by itself if it is short, else by its length, as where the text or its name looks private."""
    text = str.__str__(value)
    private = looks_personal(name) or secret_name(name, text) or private_text(text)
    value_text = f" {len(text)} characters" if private or len(text) > MAX_TEXT else f" = {quoted(text, 60)}"
    return summary(
        name, value, f"{name}: str{'' if privacy == 'schema' else value_text}", copyable=_may_copy(name, text)
    )


def describe_bytes(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe bytes by their length."""
    kind: Any = bytes if is_a(value, bytes) else bytearray
    start = kind.__getitem__(value, slice(CHECKED_BYTES))
    size = "" if privacy == "schema" else f" {kind.__len__(value)} bytes"
    return summary(
        name,
        value,
        f"{name}: {safe(type_name(type(value)), 60)}{size}",
        copyable=_may_copy(name, start),
    )


def describe_sequence(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a sequence by length and types of its first elements, with the range of numbers or keys of dicts."""
    names = class_attribute(type(value), "_fields")
    if type(names) is tuple:
        return _describe_named_tuple(name, value, names, privacy)
    items = first(value, SAMPLE_ITEMS)
    text = _items_text(name, items, privacy, whole=length(value) <= SAMPLE_ITEMS)
    kind = safe(type_name(type(value)), 60)
    return summary(name, value, f"{name}: {kind} {length(value)}{text}", copyable=_may_copy(name, value))


def describe_mapping(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a dict by its first keys, if they are text and not private, and the types of their values."""
    pairs, size = first_pairs(value, MAX_KEYS), length(value)
    keys = [key for key, _ in pairs if type(key) is str]
    hidden = privacy == "schema" or looks_personal(name) or is_personal(name, keys)
    keys_text = (
        "" if hidden or not keys else f" keys [{', '.join(map(_key, keys))}{', …' if size > len(keys) else ''}]"
    )
    kind = safe(type_name(type(value)), 60)
    return summary(
        name,
        value,
        f"{name}: {kind}{keys_text or f' {size}'}{_kinds_text([item for _, item in pairs])}",
        copyable=_may_copy(name, value),
    )


def describe_range(name: str, value: range, privacy: Privacy) -> VariableSummary:
    """Describe a range by its limits and step."""
    value_text = "" if privacy == "schema" else f" {value.start}..{value.stop} step {value.step}"
    return summary(name, value, f"{name}: range{value_text}", copyable=True)


def describe_running(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a generator, iterator or coroutine by its type: reading would consume it."""
    return summary(name, value, f"{name}: {safe(type_name(type(value)), 60)} (not consumed)")


def scalar_text(value: Any) -> str:
    """Return `str` of a built-in number or date, or of the one that a user's class is derived from; else ''."""
    if is_plain(value):
        return _digits(value) if type(value) is int else str(value)
    for base in (int, float, complex):
        if base in type(value).__mro__:
            plain: Any = base.__repr__(value)
            return str(plain)
    return str(value) if type_path(type(value)).startswith(("pathlib.", "pandas.")) else ""


def summary(name: str, value: object, headline: str, *, copyable: bool = False) -> VariableSummary:
    """Return the summary of a value without columns."""
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
    """Describe an attribute by its value if that is short, plain and not private, else by its type."""
    kind = type(value)
    has_value = kind in (int, float, bool, str) and privacy != "schema" and not looks_personal(label)
    text = str(value)[: MAX_TEXT + 1] if has_value and not (kind is int and int(value.bit_length()) > 100) else ""  # type: ignore[attr-defined]
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
        listed = list(keys)[:MAX_KEYS]
        return text if is_personal(name, listed) else f"{text} keys [{', '.join(map(_key, listed))}]"
    if whole and kinds <= {int, float} and not is_personal(name, items):
        numbers = [item for item in items if item == item]  # noqa: PLR0124 - without NaN
        return f"{text} {'..'.join(number_range(min(numbers), max(numbers)))}" if numbers else text
    return text


def _kinds_text(items: list[Any]) -> str:
    names = sorted({safe(type_name(type(item)), 40) for item in items})
    return f" of {', '.join(names[:3])}" if names else ""


def _digits(value: int) -> str:
    """Return the digits, or the size of a huge integer: writing it is slow, and fails beyond 4,300 digits."""
    return str(value) if value.bit_length() <= 130 else f"{value.bit_length()} bits"


def _key(key: str) -> str:
    return "***" if private_text(key) else quoted(key)


def _may_copy(name: str, value: Any) -> bool:
    """Check that a value may be copied when the prompt names it; one with a secret needs ``--vars``."""
    kind = container_of(value)
    if kind is None or kind is type(value):
        return not carries_secret(name, value)
    # Reading items of a user's subclass could run any code, so a plain copy of the first items is checked.
    plain = dict(first_pairs(value, CHECKED_ITEMS)) if kind is dict else first(value, CHECKED_ITEMS)
    return not carries_secret(name, plain)


def _own_bytes(value: object) -> int:
    """Return the size of the object itself; the `__sizeof__` of a user's class is not called."""
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
