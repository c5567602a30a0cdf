"""Statistics of one column from a bounded sample: what a person would want to know before writing code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_codeagent.values import ColumnSummary, Privacy
from jupyter_codeagent.variables.secret import private_text
from jupyter_codeagent.variables.text import MAX_NAME_CHARS, looks_personal, number, quoted, safe

MAX_LISTED = 6
"""Distinct values up to which all are listed."""
MAX_COUNTED = 2000
MIN_SHARE = 0.01
"""A listed value must make up so much of the sample: rare ones can tell of single persons."""

MAX_SINGLE = 1
"""Listed values that may stand in one row only: [Oslo, Rome, Oslo] are categories, five names are not."""


def column_name(label: object) -> str:
    """`repr()` of the label as one safe line."""
    return quoted(label, MAX_NAME_CHARS) if isinstance(label, str) else safe(repr(label), MAX_NAME_CHARS)


def summarize(label: object, sample: Any, privacy: Privacy, *, sampled: bool) -> ColumnSummary:
    """One pandas Series, already cut to the sample if `sampled`."""
    name, dtype = column_name(label), short_dtype(sample.dtype)
    if privacy == "schema" or looks_personal(label):
        return ColumnSummary(name=name, dtype=dtype)
    missing = missing_text(int(sample.isna().sum()), len(sample), sampled=sampled)
    present = sample.dropna()
    if len(present) == 0:
        return ColumnSummary(name=name, dtype=dtype, missing=missing)
    stats, example = _stats(present, dtype)
    return ColumnSummary(name=name, dtype=dtype, stats=stats, example=example, missing=missing)


def missing_text(count: int, total: int, *, sampled: bool) -> str:
    """A count is only told where it is the count of all rows."""
    if not count:
        return ""
    return f"{max(count / total, 0.001):.1%} missing" if sampled else f"{count} missing"


def short_dtype(dtype: object) -> str:
    """``int``, ``float``, ``str``, ``bool``, ``datetime``, ``category``; anything else by its own name."""
    text = str(dtype)
    for start, short in (
        ("int", "int"),
        ("Int", "int"),
        ("uint", "int"),
        ("UInt", "int"),
        ("float", "float"),
        ("Float", "float"),
        ("bool", "bool"),
        ("datetime64", "datetime"),
        ("timedelta", "timedelta"),
        ("category", "category"),
        ("str", "str"),
    ):
        if text.startswith(start):
            return short
    return safe(text)


def _stats(present: Any, dtype: str) -> tuple[str, str]:
    if dtype in ("int", "float"):
        return f"{number(present.min())}..{number(present.max())}", ""
    if dtype in ("datetime", "timedelta"):
        return f"{_instant(present.min())}..{_instant(present.max())}", ""
    if dtype == "bool":
        return "", ""
    return _categories(present)


def _instant(value: Any) -> str:
    text = str(value)
    return text.removesuffix(" 00:00:00")


def _categories(present: Any) -> tuple[str, str]:
    """All values where they are few and frequent, else how many there are and one example."""
    try:
        counts = present.value_counts()
    except TypeError:  # unhashable: lists, dicts
        return f"{type(present.iloc[0]).__name__} values", ""
    counts = counts[counts > 0].head(MAX_COUNTED)
    return tell_categories([(str(value), int(count)) for value, count in counts.items()], len(present))


def tell_categories(counts: Sequence[tuple[str, int]], total: int) -> tuple[str, str]:
    """(statistics, example) from (value, count) pairs, the most frequent first; `total` values in all."""
    if _really_categories(counts, total):
        return "{" + ", ".join(safe(value) for value, _ in counts) + "}", ""
    # Where every value is unique an example would quote a single row.
    example = quoted(counts[0][0]) if counts[0][1] > 1 and not private_text(counts[0][0]) else ""
    return f"{len(counts)}u", example


def _really_categories(counts: Sequence[tuple[str, int]], total: int) -> bool:
    """Few values that repeat: in a table of five rows `MIN_SHARE` alone would let every single person through."""
    repeats = len(counts) < total and 2 * len(counts) <= total + 1
    single = sum(count == 1 for _, count in counts)
    frequent = counts[-1][1] >= MIN_SHARE * total and single <= MAX_SINGLE
    few = len(counts) <= MAX_LISTED
    return few and repeats and frequent and not any(private_text(value) for value, _ in counts)
