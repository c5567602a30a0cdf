"""Tables with year, month and day in separate columns: how to make a date of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from jupyter_codeagent.types.variables import ColumnSummary

PARTS = ("year", "month", "day")
_YEARS = re.compile(r"[12]\d{3}\.\.[12]\d{3}")


def with_date(name: str, labels: Sequence[object], columns: Sequence[ColumnSummary]) -> tuple[ColumnSummary, ...]:
    """Return the columns of the pandas frame `name`, with the expression for its dates added to the column `day`.

    Small models take the day of the month for the day of the week. Nothing is added where a column is a date
    already, nor where statistics are not allowed, since a year of two digits cannot be recognised without them.
    """
    at = {label.lower(): position for position, label in enumerate(labels) if type(label) is str}
    parts = [columns[at[part]] for part in PARTS if part in at]
    if len(parts) < len(PARTS) or any(column.dtype.startswith("datetime") for column in columns):
        return tuple(columns)
    year, _, day = parts
    if any(part.dtype != "int" for part in parts) or not _YEARS.fullmatch(year.stats):
        return tuple(columns)
    labels_of_parts = ", ".join(part.name for part in parts)
    with_hint = replace(day, stats=f"{day.stats}, dates: pd.to_datetime({name}[[{labels_of_parts}]])")
    return tuple(with_hint if column is day else column for column in columns)
