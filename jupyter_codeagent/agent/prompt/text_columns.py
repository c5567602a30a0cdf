"""Lines that turn text into dates and numbers, for the columns that a question is about.

A small model is told that a column holds text, and computes with it as if it did not. With these lines at the
beginning of its program it cannot: they stand there as code, for everybody to see.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from jupyter_codeagent.variables.mentions import names_label

_OF_TIME = re.compile(
    r"\b(?:(?:19|20)\d\d|daily|days?|dates?|hours?|(?:week|month|quarter|year)(?:s|ly)?|weekdays?|weekends?)\b",
    re.IGNORECASE,
)
_OF_SPELLING = re.compile(r"\bspel\w+|\b(?:upper|lower|case|capital\w*|variants?|blanks?|spaces?|written)\b", re.I)


def conversions(columns: Mapping[str, Mapping[str, str]], prompt: str) -> str:
    """Return ``orders = orders.copy()`` and a line for each text column that the prompt needs as something else.

    `columns` has variable -> label -> the call that reads it, see `ColumnSummary.reading`. A table's only dates are
    needed where the prompt speaks of time, other columns where it names them. The lines end with an empty one, or
    the model goes on to copy the next table.
    """
    lines: list[str] = []
    for table, readings in columns.items():
        dates = [label for label, call in readings.items() if "to_datetime" in call]
        of_time = dates if len(dates) == 1 and _OF_TIME.search(prompt) else []
        wanted = [label for label, call in readings.items() if label in of_time or _is_wanted(label, call, prompt)]
        if wanted:
            lines.append(f"{table} = {table}.copy()")
            lines += [_conversion(f"{table}[{label!r}]", readings[label]) for label in wanted]
    return "".join(f"{line}\n" for line in [*lines, ""]) if lines else ""


def _is_wanted(label: str, call: str, prompt: str) -> bool:
    if not names_label(prompt, label):
        return False
    return call.startswith("pd.") or _OF_SPELLING.search(prompt) is not None


def _conversion(column: str, call: str) -> str:
    read = re.sub(r"\bx\b", lambda _: column, call, count=1)
    return f"{column} = {read}"
