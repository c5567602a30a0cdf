"""Columns that are values of one variable: a year or a month each, as tables for reading have them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

MIN_COLUMNS = 5
_YEAR = re.compile(r"\D{0,4}((?:1[5-9]|20)\d\d)(?: \[YR\d{4}\])?")
"""``1960``, ``X1960`` and ``1960 [YR1960]``, as the World Bank writes it."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = re.compile(
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class WideColumns:
    """Columns named by what another table would have in rows, in their order."""

    noun: str
    """``years`` or ``months``."""
    names: tuple[str, ...]


def wide_columns(names: Sequence[str]) -> tuple[WideColumns, ...]:
    """Return the columns that are named by years, and those by months, if there are at least `MIN_COLUMNS`."""
    years = [name for name in names if _YEAR.fullmatch(name)]
    months = {_MONTHS.index(name[:3].lower()): name for name in names if _MONTH.fullmatch(name)}
    found = (
        WideColumns(noun="years", names=tuple(years)),
        WideColumns(noun="months", names=tuple(months[at] for at in sorted(months))),
    )
    return tuple(one for one in found if len(one.names) >= MIN_COLUMNS)


def are_of_one_variable(columns: Collection[str], wide: Iterable[WideColumns]) -> bool:
    """Check whether two of the columns are values of one variable: that 1985 and 1986 are alike is no finding."""
    return any(len({*columns} & {*one.names}) > 1 for one in wide)
