"""What a program did to rows and columns, call by call, as the sandbox counted it.

The texts come from the sandbox: untrusted, cleaned and capped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

OperationKind = Literal[
    "filter",
    "drop_missing",
    "deduplicate",
    "cut",
    "sort",
    "join",
    "concat",
    "group",
    "aggregate",
    "convert",
    "fill",
    "columns",
    "comparison",
    "reshape",
    "query",
]
FactKind = Literal[
    "missing",
    "skipped",
    "missing_keys",
    "became_missing",
    "filled",
    "retyped",
    "added",
    "overwritten",
    "removed",
    "groups",
    "ties",
    "matched",
    "not_counted",
    "unmatched_left",
    "unmatched_right",
    "lost_left",
    "lost_right",
    "near_keys",
    "multiplied",
    "one_to_many",
    "not_in_all",
    "near_misses",
    "types_differ",
    "numbers_as_text",
    "other_date_order",
    "ambiguous_dates",
    "part_of_rows",
    "part_of_top",
    "repeated",
    "mean_of_means",
    "duplicate_rows",
    "repeated_ids",
    "total_rows",
    "mixed_units",
    "time_zone",
    "constant_per_id",
    "two_scales",
    "dates_in_1970",
    "later_years",
    "dates_as_text",
    "absent_value",
    "repeated_keys",
    "case_variants",
    "repeated_sums",
    "unmatched_labels",
    "overlap",
    "thousands_point",
    "placeholders",
    "cut_off",
    "excel_days",
    "dropped_for",
    "several_rows",
    "several_summed",
    "repeated_each",
    "nulls_filtered",
    "averages_averaged",
    "mean_of_ratios",
    "unjoined_nulls",
    "counted_no",
    "counted_yes",
    "keyless",
    "missing_codes",
    "unordered",
    "over_borders",
    "single_row",
]


@dataclass(frozen=True, kw_only=True)
class OperationFact:
    """One thing that was counted in an operation."""

    kind: FactKind
    count: int = 0
    """Rows, values or groups; of columns their number."""
    of: int | None = None
    """Out of how many."""
    label: str = ""
    """Columns or values that it is about."""


@dataclass(frozen=True, kw_only=True)
class OperationExamples:
    """The first rows or values that an operation left out or changed."""

    title: str
    """``rows left out``."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One call, selection or assignment of a program."""

    kind: OperationKind
    name: str
    """Method: ``merge``; ``[]`` for a selection, ``[]=`` for an assignment."""
    detail: str = ""
    """Source of its arguments, or the columns of an aggregate."""
    line: int = 1
    """Line of the program, from 1."""
    rows: tuple[int, int] | None = None
    """Rows before and after."""
    columns: tuple[int, int] | None = None
    other_rows: int | None = None
    """Rows of the other table of a join."""
    facts: tuple[OperationFact, ...] = ()
    examples: OperationExamples | None = None
    times: int = 1
    """How often the line did it; what is counted is of one of the first times."""
    text: str = ""
    """All that in one line of plain words."""

    @property
    def duplicates_left_out(self) -> int:
        """Rows that were left out because they repeat another one; a row without a key repeats none."""
        before, after = self.rows or (0, 0)
        keyless = sum(fact.count for fact in self.facts if fact.kind == "keyless")
        return max(before - after - keyless, 0)
