"""The forms that charts of findings have, in whatever library they are drawn.

A form holds expressions of the program: series and numbers that it has computed, one item for each mark of the
chart. Where it holds one for each row (histograms, dense points), the library counts them, or else lines of numpy
before it: a million rows make a small chart.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Around:
    """What stands around the data."""

    x: str
    y: str
    """Labels of the axes: plain text."""
    n: str
    """Expression for the number of rows that are behind the chart."""
    height: float = 4.0
    """Inches of a figure of matplotlib, which is seven wide."""


@dataclass(frozen=True, kw_only=True)
class Bars:
    """A share for each category, as a horizontal bar; the first stands at the bottom."""

    labels: str
    values: str
    rows: int
    """How many there are; 0 if that is not known."""
    levels: str = ""
    """The categories as they are stored, and the literal of the one that has another colour."""
    level: str = ""
    reference: str = ""
    """The share of all rows."""
    first_on_top: bool = False


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """A mean for each category with its 95 % interval; the first stands at the bottom."""

    labels: str
    values: str
    error: str
    """Standard errors."""
    reference: str
    """The mean of all rows."""
    rows: int
    log: bool = False
    close: bool = False
    """Whether the means differ by little of their size."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some of the values of a histogram."""

    values: str
    """All of them, one for each row."""
    colour: str
    label: str = ""
    """Plain text; empty where there is only one part."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A value that is marked in a histogram."""

    value: str
    label: str
    dashed: bool = False


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """Rows by value."""

    values: str
    """All of them, one for each row."""
    parts: tuple[Part, ...]
    marks: tuple[Mark, ...] = ()
    log: bool = False
    """Whether the axis of the values is logarithmic."""
    log_rows: bool = False


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line through points: the statement that computes it, and its places."""

    made: str
    x: str
    y: str


@dataclass(frozen=True, kw_only=True)
class Points:
    """Two numbers against each other: points, or where these would hide each other, how many are in each cell."""

    x: str
    y: str
    scales: tuple[str, str]
    """Expressions for ``"log"`` or ``"linear"``; empty for the latter."""
    dense: bool
    curve: Curve | None = None


@dataclass(frozen=True, kw_only=True)
class TimeLine:
    """A value by period, with the level of each of its parts."""

    x: str
    y: str
    parts: str
    """Expression for the parts, each of them named `part` in turn."""
    part: str
    part_x: str
    level: str
    """Expressions for a part's periods and for its mean."""
    few: bool
    """Whether there are so few periods that each is marked."""
    log: bool = False
    close: bool = False
    """Whether the means differ by little of their size."""


@dataclass(frozen=True, kw_only=True)
class LevelLines:
    """A value by period for each of some levels."""

    levels: str
    """Expression for the levels, as text, of which the first are drawn."""
    level: str
    colour: str
    line: str
    """Names of variables."""
    made: str
    x: str
    y: str
    """Expressions for a level's `line`, and for the periods and the values of that."""
    few: bool
    """Whether there are so few periods that each is marked."""
    title: str
    """What the levels are called."""


@dataclass(frozen=True, kw_only=True)
class CycleLine:
    """A value by hour, weekday or month."""

    x: str
    y: str
    cycle: str
    close: bool = False
    """Whether the means differ by little of their size."""


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """Rows by day, with a time that is marked."""

    x: str
    y: str
    start: str
    end: str
    days: int
    """How many of them have rows."""


@dataclass(frozen=True, kw_only=True)
class Dumbbells:
    """Two means for each category, and how far they lie apart; the first stands at the bottom."""

    names: str
    """Name of the variable that gets the categories as text, and the expression for them."""
    labels: str
    a: str
    b: str
    texts: tuple[str, str]
    """What `a` and `b` are means of: plain text."""
    table: str
    rows: int
    overall: bool
    """Whether the last row is of all categories together."""
    title: str
    """What the groups are called."""


@dataclass(frozen=True, kw_only=True)
class Strata:
    """Two numbers against each other in each of some levels: points drawn by chance, and the line through all."""

    rows: str
    x: str
    y: str
    """Name of the table, and literals of its columns."""
    levels: str
    """Expression for the levels, as text, of which the first are drawn."""
    chosen: str
    sample: str
    """Expressions for the rows of a `level` and, of these as `part`, for some of them."""
    level: str
    colour: str
    part: str
    drawn: str
    line: str
    """Names of variables."""
    title: str
    """What the levels are called."""


Form = Bars | Intervals | Histogram | Points | TimeLine | LevelLines | CycleLine | Calendar | Dumbbells | Strata
