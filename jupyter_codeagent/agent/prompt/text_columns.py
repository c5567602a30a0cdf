"""Lines that turn text into dates and numbers, for the columns that a question is about.

A small model is told that a column holds text, and computes with it as if it did not. With these lines at the
beginning of its program it cannot: they stand there as code, for everybody to see.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from jupyter_codeagent.types.variables import TextColumn
from jupyter_codeagent.variables.mentions import names_label

_OF_TIME = re.compile(
    r"\b(?:(?:19|20)\d\d|daily|days?|dates?|hours?|(?:week|month|quarter|year)(?:s|ly)?|weekdays?|weekends?)\b",
    re.IGNORECASE,
)
_OF_SPELLING = re.compile(r"\bspel\w+|\b(?:upper|lower|case|capital\w*|variants?|blanks?|spaces?|written)\b", re.I)


def conversions(columns: Mapping[str, Mapping[str, TextColumn]], prompt: str) -> str:
    """Return ``orders = orders.copy()`` and a line for each text column that the prompt needs as something else.

    `columns` has variable -> label -> column. Needed is what the prompt names, and of a table with one column of
    dates this one where the prompt speaks of time. The lines end with an empty one, or the model goes on to copy
    the next table.
    """
    is_of_time = _OF_TIME.search(prompt) is not None
    lines: list[str] = []
    for table, found in columns.items():
        wanted = {
            label: column
            for label, column in found.items()
            if (is_of_time and column.is_only_date) or _is_named(label, column, prompt)
        }
        if wanted:
            lines.append(f"{table} = {table}.copy()")
            lines += [_conversion(f"{table}[{label!r}]", column.reading) for label, column in wanted.items()]
    return "".join(f"{line}\n" for line in [*lines, ""]) if lines else ""


def _is_named(label: str, column: TextColumn, prompt: str) -> bool:
    if not names_label(prompt, label):
        return False
    return column.reading.startswith("pd.") or _OF_SPELLING.search(prompt) is not None


def _conversion(column: str, call: str) -> str:
    read = re.sub(r"\bx\b", lambda _: column, call, count=1)
    return f"{column} = {read}"
