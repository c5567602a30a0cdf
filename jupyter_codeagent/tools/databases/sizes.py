"""Sizes of values that a function makes of small ones: only as written in the statement, and small.

DuckDB runs in the user's kernel, and its memory limit does not count such values: `range(200000000)` took 14 GB of
a kernel whose DuckDB was limited to 200 MB. Sums over rows, lists of rows and joins are counted, and end there.
What a query makes step by step ends at a limit for the process (`memory.py`), which other systems than Linux lack.

"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

MAX_PADDED_CHARS = 1000
MAX_LISTED = 100_000
"""Length of a list that is made of two numbers; in FROM such rows come one after the other, as many as wanted."""
WIDE = re.compile(r"[0-9]{4}|\*|\{[^}]{0,1000}\{")
"""Widths of a format with four digits or more, or that come from elsewhere."""
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
DAYS = frozenset({"day", "days", "week", "weeks", "month", "months", "year", "years"})
"""Steps with which a list from year 0 to 9999 has 3.7 million dates."""


def check_sizes(nodes: Sequence[Any], dialect: str) -> None:
    """Raise PermissionError for a size that is computed, or larger than the limit.

    Raises
    ------
    PermissionError
    """
    from sqlglot import exp

    for node in nodes:
        if isinstance(node, exp.Pad) and not _is_small(node.expression, MAX_PADDED_CHARS):
            name = "lpad" if node.args.get("is_left") else "rpad"
            raise PermissionError(
                f"{name}(): write the length as a number of at most {MAX_PADDED_CHARS:,}, as in {name}(x, 2, '0')"
            )
        if dialect not in ("duckdb", "sqlite", "spark"):
            continue  # not in a process of the user's, and limited there
        if _is_named(node, "sequence") or (isinstance(node, exp.GenerateSeries) and not _makes_rows(node)):
            ends = [node.args.get(key) for key in ("start", "end", "step") if node.args.get(key) is not None]
            if not ends or not (all(_is_small(end, MAX_LISTED) for end in ends) or _are_days(ends)):
                name, other = (
                    ("sequence", "as DATE'2024-01-01'") if dialect == "spark" else ("range", "FROM range(…)")
                )
                raise PermissionError(
                    f"{name}() as a list: write its ends as numbers up to {MAX_LISTED:,}, or write {other}"
                )
        if _is_format(node):
            pattern = node.this if isinstance(node, exp.Format) else next(iter(node.expressions), None)
            if pattern is None or not _is_text(pattern) or WIDE.search(pattern.name):
                raise PermissionError("a format is written as text, with widths below 1,000: printf('%.2f', x)")


def _is_small(size: Any, largest: int) -> bool:
    from sqlglot import exp

    number = size.this if isinstance(size, exp.Neg) else size
    is_number = isinstance(number, exp.Literal) and not number.is_string and number.name.isdecimal()
    return is_number and len(number.name) < 10 and int(number.name) <= largest


def _is_text(node: Any) -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Literal) and bool(node.is_string)


def _is_format(node: Any) -> bool:
    from sqlglot import exp

    return _is_named(node, "printf", "format", "format_string") or isinstance(node, exp.Format)


def _is_named(node: Any, *names: str) -> bool:
    """Check for a function that sqlglot knows by its name alone."""
    from sqlglot import exp

    return isinstance(node, exp.Anonymous) and node.name.lower() in names


def _are_days(ends: Sequence[Any]) -> bool:
    """Check for two dates as written, and a step of whole days, weeks, months or years."""
    from sqlglot import exp

    *dates, step = [*ends, None] if len(ends) == 2 else ends
    is_step = step is None or (
        isinstance(step, exp.Interval)
        and step.this is not None
        and step.this.name.isdecimal()
        and str(step.args.get("unit")).lower() in DAYS
    )
    return is_step and all(
        isinstance(date, exp.Cast)
        and _is_text(date.this)
        and DATE.fullmatch(date.this.name)
        and str(date.to) == "DATE"
        for date in dates
    )


def _makes_rows(node: Any) -> bool:
    """Check whether the function stands in FROM itself."""
    from sqlglot import exp

    return isinstance(node.parent, exp.Table | exp.From | exp.Join | exp.Lateral)
