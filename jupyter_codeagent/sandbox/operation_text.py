"""What an operation did, in one line: ``mean of dep_delay: 336,776 rows; 8,255 missing values skipped``."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_codeagent.types.operations import FactKind, Operation, OperationFact
from jupyter_codeagent.types.sizes import counted

MAX_DETAIL_CHARS = 70
SUBSCRIPT = "[]"
ARITHMETIC = "arithmetic"
"""Name of the operation of two columns that are added, subtracted, multiplied or divided."""


def operation_text(one: Operation) -> str:
    """Return the line of one operation, without the line number of the program."""
    parts = [part for part in (_rows(one), *_facts(one)) if part]
    more = f"{one.times:,} times, the first: " if one.times > 1 else ""
    return f"{_title(one)}: {more}{'; '.join(parts)}" if parts else _title(one)


def _title(one: Operation) -> str:
    detail = one.detail if len(one.detail) <= MAX_DETAIL_CHARS else f"{one.detail[: MAX_DETAIL_CHARS - 1]}…"
    match one.kind:
        case "filter" if one.name == SUBSCRIPT:
            return f"filter {detail}"
        case "cut" if one.name == SUBSCRIPT:
            return f"rows [{detail}]"
        case "comparison":
            return f"compare {detail}" if one.name != "isin" else f"isin({detail})"
        case "convert" if one.name == ARITHMETIC:
            return detail
        case "columns" if one.name == "[]=":
            return f"assign {detail}"
        case "group" | "aggregate":
            keys = next((fact.label for fact in one.facts if fact.kind == "groups"), "")
            return f"{one.name}{f' of {detail}' if detail else ''}{f' by {keys}' if keys else ''}"
        case _:
            return f"{one.name}({detail})"


def _rows(one: Operation) -> str:
    if one.rows is None:
        return ""
    before, after = one.rows
    match one.kind:
        case "filter" | "drop_missing" | "cut":
            text = f"{after:,} of {counted(before, 'row')}"
        case "deduplicate":
            text = f"{counted(one.duplicates_left_out, 'duplicate')} left out of {counted(before, 'row')}"
        case "join":
            text = f"{before:,} and {counted(one.other_rows or 0, 'row')} → {counted(after, 'row')}"
        case "group" | "reshape":
            text = f"{counted(before, 'row')} → {after:,}"
        case "aggregate":
            text = counted(before, "row")
        case "concat" | "query":
            text = counted(after, "row")
        case _:
            text = ""
    return text


def _facts(one: Operation) -> list[str]:
    told = FACTS.keys() - FOR_THE_VERDICT
    lines = [fact_text(fact) for fact in one.facts if fact.kind in told]
    kinds = {fact.kind for fact in one.facts}
    if "matched" in kinds and not kinds & {"multiplied", "one_to_many"}:
        lines.append("no rows multiplied")
    return lines


def fact_text(fact: OperationFact) -> str:
    """Return the words of one fact; its kind where it has none."""
    return FACTS[fact.kind](fact) if fact.kind in FACTS else fact.kind.replace("_", " ")


def _of_label(label: str) -> str:
    return f" of {label}" if label else ""


def _rows_have(fact: OperationFact, what: str) -> str:
    return f"{counted(fact.count, 'row')} {'has' if fact.count == 1 else 'have'} {what}"


FACTS: dict[FactKind, Callable[[OperationFact], str]] = {
    "missing": lambda fact: f"{fact.label} is missing in {fact.count:,}",
    "skipped": lambda fact: f"{counted(fact.count, 'missing value')}{_of_label(fact.label)} skipped",
    "missing_keys": lambda fact: f"{counted(fact.count, 'row')} without {fact.label or 'a key'} left out",
    "became_missing": lambda fact: f"{counted(fact.count, 'value')}{_of_label(fact.label)} became missing",
    "filled": lambda fact: f"{counted(fact.count, 'missing value')}{_of_label(fact.label)} filled",
    "retyped": lambda fact: fact.label,
    "added": lambda fact: f"new column{'s' if fact.count > 1 else ''} {fact.label}",
    "overwritten": lambda fact: f"column{'s' if fact.count > 1 else ''} {fact.label} overwritten",
    "removed": lambda fact: f"column{'s' if fact.count > 1 else ''} {fact.label} removed",
    "ties": lambda fact: f"{counted(fact.count, 'more row')} with the same {fact.label or 'value'} as the last one",
    "unmatched_left": lambda fact: f"{counted(fact.count, 'row')} of the left table without a match",
    "unmatched_right": lambda fact: f"{counted(fact.count, 'row')} of the right table without a match",
    "not_counted": lambda _: "too large to count",
    "near_keys": lambda fact: f"{counted(fact.count, 'key')} would match but for the spelling",
    "multiplied": lambda fact: f"keys repeat on both sides: {counted(fact.count, 'extra row')}",
    "one_to_many": lambda fact: f"rows of the left table repeat: {fact.count:,} extra",
    "not_in_all": lambda fact: f"not in all tables: {fact.label}",
    "near_misses": lambda fact: f"{_rows_have(fact, 'a different spelling')}",
    "types_differ": lambda fact: f"numbers compared with text in {fact.label}",
    "numbers_as_text": lambda fact: f"{fact.label or 'the values'} holds numbers as text",
    "other_date_order": lambda fact: f"{counted(fact.count, 'date')} may be read with day and month swapped",
    "ambiguous_dates": lambda fact: f"{counted(fact.count, 'date')} could be day first or month first",
    "lost_left": lambda fact: (
        f"only {(fact.of or 0) - fact.count:,} of {counted(fact.of or 0, 'row')} matched"
        if 2 * fact.count > (fact.of or 0)
        else f"{counted(fact.count, 'row')} without a match left out"
    ),
    "time_zone": lambda fact: f"times in {fact.label}",
    "part_of_rows": lambda fact: f"only {fact.count:,} of {counted(fact.of or 0, 'row')}: {fact.label}",
    "repeated": lambda fact: (
        f"a join repeated {f'{fact.label} in ' if fact.label else ''}{counted(fact.count, 'row')}"
    ),
    "mean_of_means": lambda fact: f"a mean of {fact.count:,} group means, though the groups differ in size",
    "duplicate_rows": lambda fact: f"{counted(fact.count, 'duplicate row')} counted more than once",
    "repeated_ids": lambda fact: _rows_have(fact, f"the same {fact.label} as an earlier row"),
    "total_rows": lambda fact: (
        f"{counted(fact.count, 'row')} of {fact.label} "
        f"{'looks like a total' if fact.count == 1 else 'look like totals'}"
    ),
    "constant_per_id": lambda fact: f"{fact.label} counted once per row, {fact.count:,} times too often",
    "two_scales": lambda fact: f"{fact.label} has values on two scales, as if units were mixed",
    "dates_in_1970": lambda fact: f"all dates in {fact.label or 'the column'} are in 1970",
    "later_years": lambda fact: f"{counted(fact.count, 'date')} in {fact.label or 'the column'} are in the future",
    "dates_as_text": lambda fact: (
        f"{fact.label or 'the column'} holds dates as text, which compare by the day first"
    ),
    "absent_value": lambda fact: f"no row has {fact.label}",
    "repeated_keys": lambda fact: _rows_have(fact, f"the same {fact.label} as an earlier row"),
    "case_variants": lambda fact: (
        f"{counted(fact.count, 'value')} of {fact.label} {'differs' if fact.count == 1 else 'differ'}"
        " only in case or spaces"
    ),
    "repeated_sums": lambda fact: f"{fact.label} of the joined table is summed once for each row",
    "unmatched_labels": lambda fact: f"{counted(fact.count, 'label')} in only one operand became missing",
    "thousands_point": lambda fact: f"{fact.label or 'the text'} has values such as 1.234, which may be thousands",
    "overlap": lambda fact: f"{counted(fact.count, 'row')} are in more than one of the tables",
    "placeholders": lambda fact: (
        f"{counted(fact.count, 'text value')}{_of_label(fact.label)} without digits became missing"
    ),
    "repeated_each": lambda fact: f"a join counts {fact.label or 'a row'} once for each of several matches",
    "nulls_filtered": lambda fact: f"{counted(fact.count, 'row')} without {fact.label} left out by the comparison",
    "averages_averaged": lambda fact: f"{fact.label} already holds averages, and all count equally",
    "several_rows": lambda fact: f"each {fact.label} has several rows, {fact.count:,} extra",
    "cut_off": lambda fact: f"units or signs cut off from {fact.label}",
    "excel_days": lambda fact: (
        f"{fact.label or 'the numbers'} counted from 1900-01-01; Excel counts from 1899-12-30"
    ),
    "dropped_for": lambda fact: f"{counted(fact.count, 'row')} left out because {fact.label} is missing",
    "mean_of_ratios": lambda fact: f"{fact.label or 'a ratio'} averaged over rows regardless of their size",
    "unjoined_nulls": lambda fact: (
        f"{counted(fact.count, 'row')} without {fact.label} have no match: nulls do not join"
    ),
    "counted_no": lambda fact: f"{counted(fact.count, 'missing value')}{_of_label(fact.label)} counted as no",
    "counted_yes": lambda fact: f"{counted(fact.count, 'missing value')}{_of_label(fact.label)} counted as yes",
    "keyless": lambda fact: (
        f"{fact.count:,} of {counted(fact.of or 0, 'row')} without {fact.label} left out as if they were duplicates"
    ),
    "part_of_top": lambda fact: (
        f"computed from only {fact.count:,} of {counted(fact.of or 0, 'row')}: {fact.label}"
    ),
    "missing_codes": lambda fact: (
        f"{fact.label} in {counted(fact.count, 'row')}, far from its other values: "
        "probably a code for a missing one"
    ),
    "mixed_units": lambda fact: f"mixed units in {fact.label}",
    "unordered": lambda fact: (
        f"the rows are not in the order of {fact.label}, which goes back {counted(fact.count, 'time')}"
    ),
    "single_row": lambda fact: f"one row makes up {fact.count} % of the {fact.label}",
    "over_borders": lambda fact: f"goes on from one {fact.label} to the next in {counted(fact.count, 'place')}",
}
"""A text for each kind of fact that is told."""
FOR_THE_VERDICT: frozenset[FactKind] = frozenset(
    {"several_rows", "several_summed", "dropped_for", "part_of_top", "mean_of_ratios"}
)
"""Told only where the prompt makes them matter: as the verdict's reason."""
