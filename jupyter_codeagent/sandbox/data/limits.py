"""The error text for a value that is too large to copy: its size, the limit, and three ways that work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jupyter_codeagent.sandbox.data.subset import column_labels, supports_subset

MIB = 1 << 20
SAMPLED_ROWS = 1000
"""Rows that are read to estimate the size of texts."""
MAX_COLUMNS = 3
INDEX_BYTES = 8
"""Index bytes per row of a part of a frame with a `RangeIndex`, which itself takes none."""
SAFETY = 0.9
"""Sizes of text columns are estimates; what is proposed should fit at the first try."""


def format_too_large(name: str, value: Any, *, size_bytes: int, limit_bytes: int, taken_bytes: int = 0) -> str:
    """Return one line for the user. `taken_bytes` of the limit are used by other variables."""
    others = f", of which {taken_bytes / MIB:,.0f} MiB are used by other variables" if taken_bytes else ""
    size = f"about {size_bytes / MIB:,.0f} MiB;" if size_bytes else "too large:"
    message = f"{name!r} is {size} copies of one run are limited to {limit_bytes / MIB:,.0f} MiB{others}."
    ways = (
        _suggest_ways(name, value, size_bytes, max(limit_bytes - taken_bytes, 0)) if supports_subset(value) else []
    )
    if not ways:
        return (
            f"{message} Name fewer variables with --vars, pass a part of it, or raise c.CodeAgent.max_transfer_mb."
        )
    return f"{message} Copy a part: {', or '.join(ways)}; or raise c.CodeAgent.max_transfer_mb."


def estimated_bytes(value: Any) -> int:
    """Estimate the size of a frame without reading all of its texts; 0 where it is not known."""
    if not supports_subset(value):
        return 0
    sizes: Sequence[int] = _column_bytes(value)
    return sum(sizes)


def rows_that_fit(rows: int, size_bytes: int, available_bytes: int) -> int:
    """Return how many rows fit, rounded down to two digits; 0 if none does."""
    if size_bytes <= 0 or rows <= 0:
        return 0
    fitting = min(rows, int(rows * available_bytes * SAFETY / size_bytes))
    kept = str(fitting)[:2]
    return int(kept.ljust(len(str(fitting)), "0"))


def _suggest_ways(name: str, value: Any, size_bytes: int, available_bytes: int) -> list[str]:
    ways = []
    columns = _columns_that_fit(value, available_bytes)
    if columns:
        ways.append(f'--vars "{name}[{",".join(map(_quote_column, columns))}]"')
    index_bytes = INDEX_BYTES * len(value) if type(getattr(value, "index", None)).__name__ == "RangeIndex" else 0
    rows = rows_that_fit(len(value), (size_bytes or estimated_bytes(value)) + index_bytes, available_bytes)
    if rows:
        ways.append(f"--sample {rows}")
    if condition := _condition(value):
        ways.append(f'--where "{condition}"')
    return ways


def _columns_that_fit(value: Any, available_bytes: int) -> list[str]:
    """Return the first few columns that fit together; none if all of them would, or for a series."""
    labels, sizes = column_labels(value), _column_bytes(value)
    index_bytes = sum(sizes[len(labels) :])  # the index is always copied
    chosen: list[str] = []
    total = index_bytes
    for label, size in zip(labels, sizes, strict=False):
        if len(chosen) < MAX_COLUMNS and total + size <= available_bytes * SAFETY and labels.count(label) == 1:
            chosen.append(label)
            total += size
    return chosen if len(chosen) < len(labels) else []


def _quote_column(label: str) -> str:
    """Return a column name as `--vars` reads it inside double quotes."""
    return label if label.isidentifier() else f"'{label}'"


def _condition(value: Any) -> str:
    """Return a comparison with the value in the middle of the first number column; empty if there is none."""
    for at, label in enumerate(column_labels(value)):
        middle = _middle(value, at)
        if middle is not None and "`" not in label:
            return f"{label if label.isidentifier() else f'`{label}`'} > {middle}"
    return ""


def _middle(value: Any, at: int) -> float | int | None:
    if not len(value):
        return None
    row = len(value) // 2
    if type(value).__module__.startswith("polars"):
        cell = value[row, at]
    elif type(value).__name__ == "Table":
        cell = value.column(at)[row].as_py()
    else:
        cell = value.iloc[row, at]
    cell = getattr(cell, "item", lambda: cell)()
    return cell if type(cell) in (int, float) and math.isfinite(cell) else None


def _column_bytes(value: Any) -> Sequence[int]:
    """Return the size of each column, then of the index if there is one."""
    if type(value).__module__.startswith("polars"):
        return [int(value.get_column(label).estimated_size()) for label in value.columns]
    if type(value).__name__ == "Table":
        return [int(column.nbytes) for column in value.columns]
    if type(value).__name__ == "Series":
        return [_series_bytes(value), int(value.index.memory_usage(deep=False))]
    columns = [_series_bytes(value.iloc[:, at]) for at in range(value.shape[1])]
    return [*columns, int(value.index.memory_usage(deep=False))]


def _series_bytes(series: Any) -> int:
    """Return the size of a series. Objects, such as texts, are measured in a sample: their own size counts."""
    if series.dtype != object or len(series) == 0:
        return int(series.memory_usage(index=False, deep=False))
    step = max(1, len(series) // SAMPLED_ROWS)
    sample = series.iloc[::step]
    return int(sample.memory_usage(index=False, deep=True) / len(sample) * len(series))
