"""Years, months and days that stand in columns of their own: how a date is made of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from jupyter_codeagent.types.variables import ColumnSummary

PARTS = ("year", "month", "day")
_YEARS = re.compile(r"[12]\d{3}\.\.[12]\d{3}")


def with_date(name: str, labels: Sequence[object], columns: Sequence[ColumnSummary]) -> tuple[ColumnSummary, ...]:
    """The columns of the pandas frame `name`; told with its `day`, for a weekday or a week is a step away from it.

    Small models take the day of the month for the day of the week. Not told where a column is a date already, nor
    where no statistics may be told (years of two digits cannot be seen then).
    """
    at = {label.lower(): place for place, label in enumerate(labels) if type(label) is str}
    parts = [columns[at[part]] for part in PARTS if part in at]
    if len(parts) < len(PARTS) or any(column.dtype.startswith("datetime") for column in columns):
        return tuple(columns)
    year, _, day = parts
    if any(part.dtype != "int" for part in parts) or not _YEARS.fullmatch(year.stats):
        return tuple(columns)
    asked = ", ".join(part.name for part in parts)
    told = replace(day, stats=f"{day.stats}, dates: pd.to_datetime({name}[[{asked}]])")
    return tuple(told if column is day else column for column in columns)
