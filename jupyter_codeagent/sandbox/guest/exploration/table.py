"""One table for all finders: roles of columns, numbers, levels and ranks as numpy arrays, read when wanted."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from .date_texts import MIN_ROWS, date_format, days_of
from .number_texts import numbers_of
from .periods import MIN_PERIODS
from .roles import FINE_PARTS, MAX_LEVELS, MAX_NUMBER_LEVELS, Column, Profile, date_part, role_of
from .sources import Source
from .statistics import standard_ranks

KEPT_BYTES = 96 << 20
SCREEN_ROWS = 20_000
MAX_COLUMNS = 300
MAX_READ = 20
"""Columns of text that are read as dates or numbers: each has a finding, which no program can do without."""
CATEGORIES = ("category", "categorical", "enum")
"""How the types of categories begin, in lower case: their texts are levels, and stay such."""
MIN_CLOCK_TIMES = 100
"""Different integers that all have to be possible times of day before they are taken for some."""


class Table:
    """A table of which columns are read one at a time; more rows than `max_rows` are sampled, in their order."""

    def __init__(self, name: str, source: Source, leave_out: Iterable[str], max_rows: int) -> None:
        self.name = name
        self.source = source
        self.rows = source.rows
        self.index = spread_rows(source.rows, max_rows)
        self.notes: list[str] = []
        """What could not be looked at, and why."""
        self.left_out = frozenset(leave_out)
        """Columns that no finding is about."""
        self.hidden: set[str] = set(self.left_out)
        """These, and columns that only repeat another one."""
        self._kept: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self.date_formats: dict[str, str] = {}
        """How columns of text that are no categories write dates; empty for those that do not."""
        self.decimal_signs: dict[str, str] = {}
        """Of columns of text that are read as numbers."""
        self._read: dict[str, Any] = {}
        """The numbers, or days since 1970, that the levels of some columns of text mean."""
        self.columns: dict[str, Column] = {}
        self.labels = 0
        """Columns of the table, those included that are not looked at."""
        for label in self._labels():
            self.columns[label] = self._describe(label)

    @property
    def sampled(self) -> int:
        """Rows looked at if fewer than all, else 0."""
        return 0 if self.index is None else len(self.index)

    @property
    def size(self) -> int:
        """Rows looked at."""
        return self.sampled or self.rows

    @property
    def used(self) -> list[Column]:
        """Columns that findings may be about."""
        return [column for column in self.columns.values() if column.name not in self.hidden]

    def with_role(self, *roles: str) -> list[str]:
        """Return the names of the used columns with one of these roles."""
        return [column.name for column in self.used if column.role in roles]

    @cached_property
    def values(self) -> list[str]:
        """Names of numbers that can be averaged."""
        return [column.name for column in self.used if column.role == "number" and not column.part]

    @cached_property
    def flags(self) -> list[str]:
        """Names of columns of 0 and 1."""
        return self.with_role("flag")

    @cached_property
    def groups(self) -> list[str]:
        """Names of columns with few levels."""
        return [column.name for column in self.used if self._is_group(column)]

    def _is_group(self, column: Column) -> bool:
        if column.part and (column.part in FINE_PARTS or self.with_role("date")):
            return False  # a part of a date that the table has
        if column.part == "year":
            return column.distinct < MIN_PERIODS  # too few for a trend
        if column.role in ("category", "flag"):
            return True
        is_small = column.role == "number" and column.whole and column.distinct <= MAX_NUMBER_LEVELS
        return (is_small and column.distinct >= 3) or (bool(column.part) and column.distinct <= MAX_LEVELS)

    def numbers(self, name: str) -> Any:
        """Return the numbers of the rows looked at: flags as 0 and 1, dates as days since 1970."""
        return self._keep("numbers", name, lambda: self._read_numbers(name))

    def levels(self, name: str) -> tuple[Any, list[str]]:
        """Return numbers of levels, missing as -1, and the levels as text."""
        codes = self._keep("codes", name, lambda: self._read_levels(name))
        return codes[0], codes[1]

    def ranks(self, name: str) -> Any:
        """Return the average ranks of the numbers, with mean 0 and variance 1; missing as NaN."""
        return self._keep("ranks", name, lambda: standard_ranks(self.numbers(name)))

    def is_missing(self, name: str) -> Any:
        """Return which rows lack the value."""
        kind = self.columns[name].kind
        return self.levels(name)[0] < 0 if kind in ("text", "mixed") else np.isnan(self.numbers(name))

    @cached_property
    def times(self) -> list[str]:
        """Names of the columns of dates, or of years where there are none."""
        years = [column.name for column in self.used if column.part == "year" and column.role == "number"]
        return self.with_role("date") or years

    def days(self, name: str) -> Any:
        """Return dates, or the beginnings of years, as days since 1970."""
        numbers = self.numbers(name)
        if self.columns[name].part != "year":
            return numbers
        years = np.nan_to_num(numbers, nan=1970).astype(np.int64) - 1970
        days = years.astype("datetime64[Y]").astype("datetime64[D]").astype(np.float64)
        return np.where(np.isnan(numbers), np.nan, days)

    @cached_property
    def time(self) -> str:
        """Name of the time with the fewest missing and the most different values, or an empty text."""
        dates = [self.columns[name] for name in self.times]
        dates = [column for column in dates if column.missing <= self.rows / 2]
        best = max(dates, key=lambda column: (-round(column.missing / self.rows, 2), column.distinct), default=None)
        return best.name if best is not None else ""

    @cached_property
    def order(self) -> Any:
        """Row numbers in order of time; None where the rows already are, or there is no time."""
        if not self.time:
            return None
        days = self.numbers(self.time)
        days = np.where(np.isnan(days), np.inf, days)
        return None if (days[1:] >= days[:-1]).all() else np.argsort(days, kind="stable")

    def in_order(self, mask: Any) -> Any:
        """Return the numbers of the rows where the mask is true, in order of time."""
        return np.flatnonzero(mask) if self.order is None else self.order[mask[self.order]]

    @cached_property
    def screen(self) -> Any:
        """Numbers of the rows on which pairs are tried first; None for all."""
        return spread_rows(self.size, SCREEN_ROWS)

    @cached_property
    def screened(self) -> tuple[list[str], Any, Any]:
        """Names, standard ranks (missing as 0) and presence of all numbers and flags on the screened rows."""
        names = self.values + self.flags
        rows = self.size if self.screen is None else len(self.screen)
        ranks, present = np.zeros((rows, len(names)), np.float32), np.ones((rows, len(names)), np.float32)
        for place, name in enumerate(names):
            some = standard_ranks(self.picked(self.numbers(name)))
            ranks[:, place] = np.nan_to_num(some)
            present[:, place] = ~np.isnan(some)
        return names, ranks, present

    def picked(self, values: Any) -> Any:
        """Return the screened rows of some values."""
        return values if self.screen is None else values[self.screen]

    def hide(self, name: str) -> None:
        """Leave a column out of all that is looked for from now on."""
        self.hidden.add(name)
        self.__dict__.pop("groups", None)

    def forget(self) -> None:
        """Give back the memory of what was read."""
        self._kept.clear()
        self.__dict__.pop("screened", None)
        self.__dict__.pop("order", None)

    def _labels(self) -> list[str]:
        labels = self.source.labels()
        self.labels = len(labels) - len(self.source.levels)
        if self.source.index:
            index = self.source.index[:80]
            self.notes.append(f"its index ({index}) was not examined: `reset_index()` turns it into a column")
        if any(isinstance(label, tuple) for label in labels):
            self.notes.append("its columns have labels of several levels: join them into one text each")
            return []
        counts: dict[Any, int] = {}
        for label in labels:
            counts[label] = counts.get(label, 0) + 1
        usable = [label for label in labels if isinstance(label, str) and counts[label] == 1]
        if len(usable) < len(labels):
            left = len(labels) - len(usable)
            self.notes.append(
                f"{left} of {len(labels)} columns were not examined, because their labels are not text or occur "
                "twice: rename them"
            )
        if len(usable) > MAX_COLUMNS:
            self.notes.append(
                f"{len(usable) - MAX_COLUMNS} columns after the first {MAX_COLUMNS} were not examined"
            )
        return usable[:MAX_COLUMNS]

    def _describe(self, name: str) -> Column:
        stored = self.source.stored(name)
        try:
            kind, missing = self.source.kind(name), self.source.missing(name)
            infinite = self.source.infinite(name) if kind == "number" else 0
            profile = self._profile(name, kind)
        except Exception as problem:  # noqa: BLE001  (any column may hold anything; the note says which could not be read)
            # Without what the exception says: it may show a value, and the column may be personal.
            self.notes.append(f"column {name[:80]!r} could not be read ({type(problem).__name__})")
            return Column(name, stored, "other", "other", 0, 0)
        role = role_of(name, kind, profile, self.name)
        is_read = kind == "text" and not stored.lower().startswith(CATEGORIES) and role != "constant"
        if is_read and len(self._read) < MAX_READ:
            role = self._read_texts(name) or role
        part = date_part(name, profile) if kind == "number" else ""
        return Column(
            name, stored, kind, "number" if part else role, missing, profile.distinct, profile.whole, part, infinite
        )

    def _profile(self, name: str, kind: str) -> Profile:
        if kind == "other":
            return Profile(self.size, 0)
        if kind in ("text", "mixed"):
            codes, levels = self.levels(name)
            words = sum(" " in level.strip() for level in levels[:1000]) > 0.2 * min(len(levels), 1000)
            return Profile(int((codes >= 0).sum()), len(levels), words=words)
        numbers = self.numbers(name)
        present = np.sort(numbers[~np.isnan(numbers)])
        if not len(present):
            return Profile(0, 0)
        distinct = 1 + int(np.count_nonzero(present[1:] != present[:-1]))
        whole = kind == "number" and bool((present == np.round(present)).all())
        clock = whole and distinct >= MIN_CLOCK_TIMES and _is_clock(present)
        stretch = self.rows / max(self.size, 1)
        return Profile(len(present), distinct, whole, float(present[0]), float(present[-1]), clock, stretch=stretch)

    def every_day(self, name: str) -> Any:
        """Return the days of all rows, also of those that are not looked at; then of text each once."""
        if not self.sampled:
            return self.numbers(name)
        if name not in self._read:
            return self.source.numbers(name, None)
        levels = self.source.codes(name, None)[1]
        days = days_of(levels, np.ones(len(levels)), self.date_formats[name])
        return self._read[name] if days is None else days

    def is_read(self, name: str) -> bool:
        """Check for a column of text that is read as dates or numbers."""
        return name in self._read

    def _read_numbers(self, name: str) -> Any:
        if name not in self._read:
            return self.source.numbers(name, self.index)
        return np.append(self._read[name], np.nan)[self.levels(name)[0]]

    def _read_texts(self, name: str) -> str:
        """Read the levels of a column of text as dates or numbers, if they surely mean such; return which."""
        codes, levels = self.levels(name)
        rows = np.bincount(codes[codes >= 0], minlength=len(levels))
        texts = [level.strip() for level in levels]
        form = date_format(texts, rows) if rows.sum() >= MIN_ROWS else ""
        self.date_formats[name] = form
        if form:
            is_warned_of = self.source.library == "polars" and "%f" in form
            days = None if is_warned_of else days_of(levels, rows, form)
            if days is not None:
                self._read[name] = days
            return "" if days is None else "date"
        found = numbers_of(texts, rows)
        if found is not None:
            self._read[name], self.decimal_signs[name] = found
        return "" if found is None else "number"

    def _read_levels(self, name: str) -> tuple[Any, list[str]]:
        if self.columns and name in self.columns and self.columns[name].kind == "number":
            return _number_levels(self.numbers(name))
        return self.source.codes(name, self.index)

    def _keep(self, what: str, name: str, read: Callable[[], Any]) -> Any:
        key = (what, name)
        if key not in self._kept:
            self._kept[key] = read()
            while len(self._kept) > 1 and sum(map(_bytes, self._kept.values())) > KEPT_BYTES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


def _is_clock(numbers: Any) -> bool:
    """Check that all integers are hours and minutes, as 5 for 0:05 and 1755 for 17:55."""
    return bool(numbers[0] >= 0 and numbers[-1] <= 2400 and (numbers % 100 < 60).all() and numbers[-1] > 1200)


def _bytes(kept: Any) -> int:
    return int(kept[0].nbytes if isinstance(kept, tuple) else kept.nbytes)


def _number_levels(numbers: Any) -> tuple[Any, list[str]]:
    codes = np.full(len(numbers), -1, np.int32)
    present = ~np.isnan(numbers)
    levels, codes[present] = np.unique(numbers[present], return_inverse=True)
    return codes, [number_text(float(level)) for level in levels]


def number_text(value: float) -> str:
    """Return a number as people write it: integers without a point."""
    return str(int(value)) if value == int(value) else str(value)


def spread_rows(rows: int, most: int) -> Any:
    """Return at most so many different row numbers, one at random from each stretch of rows; None for all."""
    if rows <= most:
        return None
    edges = np.arange(most + 1) * rows // most
    shifts = np.random.default_rng(0).random(most)
    return edges[:-1] + (shifts * np.diff(edges)).astype(np.int64)
