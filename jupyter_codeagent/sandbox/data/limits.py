"""What to tell of a value that is larger than may be copied: its size, the limit, and three ways that work."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jupyter_codeagent.sandbox.data.narrow import can_be_narrowed, labels_of

MIB = 1 << 20
SAMPLED_ROWS = 1000
"""Looked at to estimate what texts take."""
SHOWN_COLUMNS = 3
INDEX_BYTES = 8
"""Of each row of a part whose whole has a `RangeIndex`, which takes nothing."""
SAFETY = 0.9
"""Estimates of text columns vary; what is proposed should fit at the first try."""


def too_large_text(name: str, value: Any, *, size_bytes: int, limit_bytes: int, taken_bytes: int = 0) -> str:
    """One line for the user. `taken_bytes` of the limit are used by other variables."""
    others = f", {taken_bytes / MIB:,.0f} MiB of them taken by others" if taken_bytes else ""
    size = f"about {size_bytes / MIB:,.0f} MiB;" if size_bytes else "too large:"
    said = f"{name!r} is {size} copies of one run are limited to {limit_bytes / MIB:,.0f} MiB{others}."
    ways = _ways(name, value, size_bytes, max(limit_bytes - taken_bytes, 0)) if can_be_narrowed(value) else []
    if not ways:
        return f"{said} Name fewer variables with --vars, pass a part of it, or raise c.CodeAgent.max_transfer_mb."
    return f"{said} Copy a part: {', or '.join(ways)}; or raise c.CodeAgent.max_transfer_mb."


def estimated_bytes(value: Any) -> int:
    """What a frame takes, without reading all of its texts; 0 where it is not known."""
    if not can_be_narrowed(value):
        return 0
    sizes: Sequence[int] = _column_bytes(value)
    return sum(sizes)


def rows_that_fit(rows: int, size_bytes: int, room_bytes: int) -> int:
    """Rounded down to two digits; 0 if none does."""
    if size_bytes <= 0 or rows <= 0:
        return 0
    fitting = min(rows, int(rows * room_bytes * SAFETY / size_bytes))
    kept = str(fitting)[:2]
    return int(kept.ljust(len(str(fitting)), "0"))


def _ways(name: str, value: Any, size_bytes: int, room_bytes: int) -> list[str]:
    ways = []
    columns = _columns_that_fit(value, room_bytes)
    if columns:
        ways.append(f'--vars "{name}[{",".join(map(_written, columns))}]"')
    index_bytes = INDEX_BYTES * len(value) if type(getattr(value, "index", None)).__name__ == "RangeIndex" else 0
    rows = rows_that_fit(len(value), (size_bytes or estimated_bytes(value)) + index_bytes, room_bytes)
    if rows:
        ways.append(f"--sample {rows}")
    if condition := _condition(value):
        ways.append(f'--where "{condition}"')
    return ways


def _columns_that_fit(value: Any, room_bytes: int) -> list[str]:
    """The first few that fit together; none if all of them would, or for a series."""
    labels, sizes = labels_of(value), _column_bytes(value)
    index_bytes = sum(sizes[len(labels) :])  # it comes along
    chosen: list[str] = []
    total = index_bytes
    for label, size in zip(labels, sizes, strict=False):
        if len(chosen) < SHOWN_COLUMNS and total + size <= room_bytes * SAFETY and labels.count(label) == 1:
            chosen.append(label)
            total += size
    return chosen if len(chosen) < len(labels) else []


def _written(label: str) -> str:
    """As `--vars` reads it inside double quotes."""
    return label if label.isidentifier() else f"'{label}'"


def _condition(value: Any) -> str:
    """A comparison with the value in the middle of the first number column; empty if there is none."""
    for at, label in enumerate(labels_of(value)):
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
    """Of each column, then of the index if there is one."""
    if type(value).__module__.startswith("polars"):
        return [int(value.get_column(label).estimated_size()) for label in value.columns]
    if type(value).__name__ == "Table":
        return [int(column.nbytes) for column in value.columns]
    if type(value).__name__ == "Series":
        return [_series_bytes(value), int(value.index.memory_usage(deep=False))]
    columns = [_series_bytes(value.iloc[:, at]) for at in range(value.shape[1])]
    return [*columns, int(value.index.memory_usage(deep=False))]


def _series_bytes(series: Any) -> int:
    """Objects, such as texts, are looked at in a sample: their own size is what counts."""
    if series.dtype != object or len(series) == 0:
        return int(series.memory_usage(index=False, deep=False))
    step = max(1, len(series) // SAMPLED_ROWS)
    sample = series.iloc[::step]
    return int(sample.memory_usage(index=False, deep=True) / len(sample) * len(series))
