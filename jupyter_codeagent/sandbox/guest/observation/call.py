"""One observed call, where its values come from, and what it did."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .hooks import Site

MAX_FACTS = 16
MAX_TEXT = 120
MAX_LABEL = 60
EXAMPLE_ROWS = 5
EXAMPLE_COLUMNS = 6
NS = 1e-9


class Budget:
    """Seconds that counting may still take in this cell."""

    def __init__(self, left_s: float) -> None:
        self.left_s = left_s

    def spend(self, seconds: float) -> None:
        """Take what was spent."""
        self.left_s -= seconds

    def step_within(self, count: int, each_ns: float, share: float) -> int:
        """Return n, so that every n-th of `count` values takes at most this share of the time; 0 for none."""
        left_s = self.left_s * share
        return max(1, -int(-count * each_ns * NS // left_s)) if left_s > 0 else 0

    def allows(self, count: int, each_ns: float) -> bool:
        """Check whether there is time for `count` values of `each_ns` nanoseconds."""
        return count * each_ns * NS <= self.left_s


@dataclass(frozen=True)
class Compared:
    """The comparison that a column of true and false is the result of."""

    text: str
    """``delay > 0``."""
    label: str
    """Column that is compared, and may have missing values."""
    missing: int
    """Missing values, each counted as false."""
    rows: int
    is_yes: bool = False
    """Whether they are counted as true: by ``!=``."""


@dataclass(frozen=True)
class Repeats:
    """How a join repeats the values of a column."""

    told_by: frozenset[str]
    """Columns of the other table that tell the repetitions apart: a figure for each value of those counts what was
    repeated once."""
    rows: tuple[int, int]
    """Rows that the join has more than this side matched, and rows of this side before."""


@dataclass(frozen=True)
class Origin:
    """What is known of how a frame, a column or a grouping was made."""

    part: str = ""
    """Call that took a part of the rows without regard to their order: ``head(100)``."""
    top: str = ""
    """Call that took the first rows of an order: ``nlargest(10)``."""
    part_rows: tuple[int, int] = (0, 0)
    """Rows that either took, and of how many."""
    sorted_by: tuple[str, ...] = ()
    """Labels by which the rows are sorted; of a Series, one empty label."""
    repeated: Mapping[str, Repeats] = field(default_factory=dict)
    """Columns whose values a join repeats."""
    repeats_both: bool = False
    """Whether rows of both tables are repeated."""
    repeats: tuple[int, int] = (0, 0)
    """Rows that the join has more, and rows before."""
    unmatched: int = 0
    """Labels that only one of the operands had which it was computed of."""
    unjoined: frozenset[str] = frozenset()
    """Columns of the right table of a join that left rows without a match have no value of."""
    summed_once: frozenset[str] = frozenset()
    """Columns of the smaller table of a join, whose values stand in several rows by design."""
    computed: frozenset[str] = frozenset()
    """Columns that the program has computed; of a column alone its label."""
    ratios: frozenset[str] = frozenset()
    """Columns of one number divided by another in each row."""
    compared: Mapping[str, Compared] = field(default_factory=dict)
    """Columns that are the result of a comparison."""
    uneven_means: int = 0
    """Groups of unequal sizes that it has a mean of each."""
    frame: Any = None
    """Returns the frame that a column was taken from, or None."""

    def repeated_among(self, columns: Iterable[str], keys: Collection[str]) -> list[str]:
        """Return which of the columns a figure for each of the keys counts several times."""
        known = ((label, self.repeated.get(label)) for label in columns)
        return [label for label, one in known if one is not None and not one.told_by.intersection(keys)]

    def repeats_rows(self, keys: Collection[str]) -> bool:
        """Check whether counting rows for each of the keys counts some several times."""
        return bool(self.repeated) and not any(one.told_by.intersection(keys) for one in self.repeated.values())


@dataclass
class Operation:
    """What one call did; as JSON the host reads it with `guest_reports`."""

    name: str
    detail: str
    kind: str
    line: int
    rows: tuple[int, int] | None = None
    columns: tuple[int, int] | None = None
    other_rows: int | None = None
    """Rows of the other table of a join."""
    facts: list[dict[str, Any]] = field(default_factory=list)
    examples: dict[str, Any] | None = None
    times: int = 1

    def add(self, kind: str, count: int = 0, of: int | None = None, label: object = "") -> None:
        """Add a fact, unless it says that nothing happened to values or rows."""
        if len(self.facts) < MAX_FACTS:
            self.facts.append(
                {"kind": kind, "count": int(count), "of": None if of is None else int(of), "label": text(label)}
            )

    def show(self, title: str, columns: Iterable[object], rows: Iterable[Iterable[object]]) -> None:
        """Show a few rows or values as an example; the first call counts."""
        if self.examples is None:
            self.examples = {
                "title": title,
                "columns": [text(label) for label in columns][:EXAMPLE_COLUMNS],
                "rows": [[text(cell) for cell in row][:EXAMPLE_COLUMNS] for row in rows][:EXAMPLE_ROWS],
            }

    def is_alike(self, other: Operation) -> bool:
        """Check whether another time of the same call did the same."""
        return (self.rows, self.facts) == (other.rows, other.facts)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "name": self.name,
            "detail": self.detail[:MAX_TEXT],
            "kind": self.kind,
            "line": self.line,
            "rows": self.rows,
            "columns": self.columns,
            "other_rows": self.other_rows,
            "facts": self.facts,
            "examples": self.examples,
            "times": self.times,
        }


class Call:
    """One call on its way: the receiver, then the arguments, then the result."""

    def __init__(self, number: int, site: Site, receiver: Any, budget: Budget) -> None:
        self.number, self.site, self.receiver, self.budget = number, site, receiver, budget
        self.arguments: dict[int | str, Any] = dict(site.constants)
        self.result: Any = None
        self.origin = Origin()
        """Set by `observe`: the origin of the result, or of the frame that columns were stored in."""

    def get(self, name: str, position: int | None = None, default: Any = None) -> Any:
        """Return an argument by its keyword or position."""
        if name in self.arguments:
            return self.arguments[name]
        return self.arguments.get(position, default) if position is not None else default

    def operation(self, kind: str, before: object = None, after: object = None) -> Operation:
        """Return an operation with the rows and columns of two frames."""
        one = Operation(self.site.name, self.site.detail, kind, self.site.line)
        sizes = [getattr(value, "shape", None) for value in (before, after)]
        shapes = [shape for shape in sizes if isinstance(shape, tuple) and shape]
        if len(shapes) == 2:
            one.rows = (int(shapes[0][0]), int(shapes[1][0]))
            if len(shapes[0]) == len(shapes[1]) == 2:
                one.columns = (int(shapes[0][1]), int(shapes[1][1]))
        return one

    def keep_cut(self, kept: int, rows: int) -> None:
        """Remember that the result has the first rows: of an order, or of rows whose order says nothing."""
        name, detail = self.site.name, self.site.detail
        cut = f"[{detail}]" if name == "[]" else f"{name}({detail})"
        if self.origin.sorted_by:
            self.origin = replace(self.origin, top=cut, part_rows=(kept, rows))
        else:
            self.origin = replace(self.origin, part=cut, part_rows=(kept, rows))


Fact = tuple[str, int, int, str]
"""Kind, count, out of how many, label."""


def unordered(steps_back: Mapping[str, int], rows: int) -> list[Fact]:
    """Return that rows are in the order of none of their times, by how often each goes back; of the nearest one."""
    if not steps_back or not all(steps_back.values()):
        return []
    label = min(steps_back, key=lambda found: steps_back[found])
    return [("unordered", steps_back[label], rows - 1, label)]


def with_facts(call: Call, one: Operation | None, facts: Iterable[Fact]) -> Operation | None:
    """Return the operation with these facts; one of its own where the call is none without them."""
    if facts and one is None:
        one = call.operation("convert")
    if one is not None:
        for fact in facts:
            one.add(*fact)
    return one


def add_repeats(
    one: Operation, origin: Origin, used: Collection[str], keys: Collection[str], *, counts_rows: bool
) -> None:
    """Add columns that a join has repeated, or rows that are counted more than once."""
    repeated = origin.repeated_among(used, keys)
    if repeated or (counts_rows and origin.repeats_rows(keys)):
        rows = origin.repeated[repeated[0]].rows if repeated else origin.repeats
        one.add("repeated", *rows, ", ".join(repeated))
    elif origin.repeats_both and (each := [label for label in used if label in origin.repeated]):
        one.add("repeated_each", *origin.repeated[each[0]].rows, ", ".join(each))


def add_part(one: Operation, origin: Origin) -> None:
    """Add that a figure is one of a part of the rows."""
    for kind, cut in (("part_of_rows", origin.part), ("part_of_top", origin.top)):
        if cut:
            one.add(kind, origin.part_rows[0], origin.part_rows[1], cut)


def text(value: object) -> str:
    """Return a label or a cell as short text."""
    shown = value if isinstance(value, str) else str(value)
    return shown if len(shown) <= MAX_LABEL else f"{shown[: MAX_LABEL - 1]}…"
