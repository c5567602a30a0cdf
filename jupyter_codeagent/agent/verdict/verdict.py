"""The verdict on a result: *checked*, *look* or *doubtful*, with its reason in one line.

Pure functions of what was counted and recorded; no further call of the model. docs/evals.md says how right each is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from jupyter_codeagent.agent.run_facts import WARNING
from jupyter_codeagent.agent.verdict import asked_rows
from jupyter_codeagent.agent.verdict.signals import Signals
from jupyter_codeagent.sandbox.operation_text import ARITHMETIC, fact_text
from jupyter_codeagent.types.operations import FactKind, Operation, OperationFact
from jupyter_codeagent.types.run import Verdict
from jupyter_codeagent.types.sizes import counted

DOUBTFUL: tuple[FactKind, ...] = (
    "types_differ",
    "numbers_as_text",
    "other_date_order",
    "dates_in_1970",
    "later_years",
    "dates_as_text",
    "thousands_point",
    "near_misses",
    "near_keys",
    "repeated",
    "total_rows",
    "mixed_units",
    "two_scales",
    "part_of_rows",
    "part_of_top",
    "mean_of_means",
    "constant_per_id",
    "overlap",
    "cut_off",
    "excel_days",
    "unjoined_nulls",
    "missing_codes",
    "unordered",
    "over_borders",
)
"""Facts that make a result wrong as a rule; of several the first is the reason."""
LOOK: tuple[FactKind, ...] = (
    "missing_keys",
    "lost_left",
    "became_missing",
    "counted_no",
    "counted_yes",
    "keyless",
    "absent_value",
    "ambiguous_dates",
    "ties",
    "duplicate_rows",
    "repeated_keys",
    "repeated_ids",
    "case_variants",
    "repeated_sums",
    "unmatched_labels",
    "dropped_for",
    "repeated_each",
    "nulls_filtered",
    "averages_averaged",
    "several_rows",
    "mean_of_ratios",
    "not_counted",
)
"""Facts that a person should know before using the result."""
SEVERAL: tuple[FactKind, ...] = ("several_rows", "several_summed", "repeated_ids", "one_to_many", "multiplied")
MANY_REPLIES = 3
MANY_LINES = 10
FILLED_LATER = frozenset({"map", "to_datetime"})
READS_TEXT = frozenset(
    ["to_numeric", "to_datetime", "to_timedelta", "cast", "to_date", "to_integer", "to_decimal", "strptime"]
)
"""Methods that turn texts into numbers or dates."""
MANY_UNREAD = 0.05
"""Share of the values that could not be read from which figures of the rest are doubtful: on the development sets
16 programs with an error lose .09 or more, and no right one loses any but placeholders, or what is filled later."""
MANY_DUPLICATES = 0.01
"""Share of the rows from which on rows that occur twice make a figure doubtful."""
MOST = 0.5
"""Share of the rows of both tables without a match beyond which a join hardly means what it says."""
ADDS = frozenset({"sum", "agg", "aggregate", "pivot_table"})
"""Methods by which a value that is missing is missing from a total."""
INTENDED = frozenset({"where", "mask", "reindex"})
"""Methods that make values missing on purpose."""
_HANDLES_MISSING = re.compile(
    r"\b(?:isna|isnull|notna|notnull|is_null|is_not_null|fillna|fill_null|nulls_equal|dropna\s*=\s*False)\b"
)
_MADE_MISSING = re.compile(r"\b(?:then|otherwise)\(\s*(?:pl\.lit\(\s*)?None\b")
"""``pl.when(pl.col("age") == 999).then(None)``"""
_MISSING_WORD = re.compile(r"\b(?:nan|NaN|NA|NaT|None)\b")
OF_MISSING: tuple[FactKind, ...] = (
    "missing_keys",
    "counted_no",
    "counted_yes",
    "keyless",
    "nulls_filtered",
)
_SHIFTS_CENTURY = re.compile(r"years\s*=\s*-?100\b|-\s*100\b|\b100y\b")
_CHOSEN = re.compile(r"\[\[[^\[\]]*\]\]")
"""``[["amount", "currency"]]``: a choice of columns does nothing with them."""
_PICKS = re.compile(
    r"\b(?:drop_duplicates|unique|idxmax|idxmin|arg_max|last|first|nth|tail|head|rank|row_number|duplicated|is_duplicated)\b"
)
"""Methods that keep one of several records."""


def judge(signals: Signals, prompt: str) -> Verdict:
    """Return the verdict on the result of a run."""
    if signals.hidden:
        return Verdict(level="doubtful", reason=f"answered without {signals.hidden}, which you have hidden")
    if signals.warning:
        return Verdict(level="doubtful", reason=signals.warning.removeprefix(WARNING).split(". ")[0].rstrip("."))
    found = list(_facts(signals, prompt))
    facts = {fact.kind: (one, fact) for one, fact in reversed(found)}
    grave = {fact.kind: (one, fact) for one, fact in reversed(found) if _loses_much(one, fact, signals, prompt)}
    doubts = [facts[kind] for kind in DOUBTFUL if kind in facts] + list(grave.values())
    looks = [facts[kind] for kind in LOOK if kind in facts and kind not in grave]
    if doubts:
        return Verdict(level="doubtful", reason=_first_of([*doubts, *looks]))
    if reason := _hard_for_the_model(signals):
        return Verdict(level="doubtful", reason=reason)
    if looks:
        return Verdict(level="look", reason=_first_of(looks))
    for reason in (*_prompt_reasons(signals, prompt), *_further_reasons(signals)):
        return Verdict(level="look", reason=reason)
    return Verdict(level="checked", reason=_what_was_looked_at(signals))


def _facts(signals: Signals, prompt: str) -> Iterator[tuple[Operation, OperationFact]]:
    """Yield the facts that neither the prompt asks for nor the program deals with."""
    settled = _settled(signals)
    is_filled = any(one.kind == "fill" for one in signals.operations)
    for one in signals.operations:
        for fact in one.facts:
            if fact.kind == "became_missing" and _is_left_missing(one, signals, is_filled=is_filled):
                continue
            is_asked = fact.kind in ASKED and ASKED[fact.kind](fact, prompt)
            if fact.count and fact.kind not in settled and not is_asked and not _is_intended(fact, signals.code):
                yield one, fact


def _is_left_missing(one: Operation, signals: Signals, *, is_filled: bool) -> bool:
    """Check for values that become missing on purpose, or that no sum skips where they have no match."""
    if one.name == ARITHMETIC:
        later = signals.operations[signals.operations.index(one) + 1 :]
        return not any(
            after.name in ADDS and any(fact.kind == "skipped" for fact in after.facts) for after in later
        )
    is_replaced = one.name == "replace" and _MISSING_WORD.search(one.detail) is not None
    is_made = _MADE_MISSING.search(one.detail) is not None and "strict=False" not in one.detail
    return one.name in INTENDED or is_replaced or is_made or (one.name in FILLED_LATER and is_filled)


def _settled(signals: Signals) -> frozenset[FactKind]:
    """Return the facts that the program itself deals with: it names missing values, or drops duplicates."""
    kinds: set[FactKind] = set(OF_MISSING) if _HANDLES_MISSING.search(signals.code) else set()
    if any(one.kind == "deduplicate" for one in signals.operations):
        kinds |= {"overlap", "duplicate_rows", "repeated_keys"}
    if _SHIFTS_CENTURY.search(signals.code):
        kinds.add("later_years")
    return frozenset(kinds)


ASKED: dict[FactKind, Callable[[OperationFact, str], bool]] = {
    "repeated_ids": lambda fact, prompt: not asked_rows.counts(fact.label, prompt),
    "several_rows": lambda fact, prompt: not asked_rows.averages(fact.label, prompt),
    "missing_keys": lambda _, prompt: asked_rows.asks_without_missing(prompt),
    "keyless": lambda _, prompt: asked_rows.asks_without_missing(prompt),
    "part_of_rows": lambda fact, prompt: asked_rows.asks_for_part(fact.count, prompt),
    "part_of_top": lambda _, prompt: not asked_rows.asks_for_whole(prompt),
    "lost_left": lambda _, prompt: asked_rows.asks_for_matches(prompt),
    "mean_of_means": lambda _, prompt: asked_rows.asks_for_mean_of_means(prompt),
    "mean_of_ratios": lambda _, prompt: asked_rows.asks_for_mean(prompt),
    "repeated_each": lambda _, prompt: asked_rows.asks_for_each_match(prompt),
    "dropped_for": lambda fact, prompt: fact.label in prompt,
}
"""Whether a prompt asks for what was counted.

Things that have several rows are what every table of events has, unless the prompt counts or averages what they
name: ``how many patients`` by the rows of a `patient_id`.
"""


def _is_intended(fact: OperationFact, code: str) -> bool:
    """Check whether the program has to do with what was counted: it names the units, or the column."""
    match fact.kind:
        case "cut_off":
            return any(_quotes(code, left) for left in fact.label.rpartition(": ")[2].split(", "))
        case "mixed_units":
            return _names_column(_CHOSEN.sub("", code), fact.label.partition(":")[0])
        case "dropped_for":
            return _names_column(code, fact.label)
        case _:
            return False


def _quotes(code: str, text: str) -> bool:
    return re.search(rf"(?<!\[)['\"]\s*{re.escape(text)}\s*['\"](?!\])", code) is not None


def _names_column(code: str, label: str) -> bool:
    return re.search(rf"['\".]{re.escape(label)}\b", code) is not None


def _prompt_reasons(signals: Signals, prompt: str) -> Iterator[str]:
    """Yield what the prompt says and the program does not heed, or no step of it."""
    yield from signals.unheeded
    picks = _PICKS.search(signals.code) is not None
    removed = [one for one in signals.operations if one.kind == "deduplicate" and one.rows is not None]
    if asked_rows.asks_once(prompt) and signals.operations:
        if not picks and "unique" not in signals.code:
            yield "the question mentions duplicate records, but no step leaves them out"
        elif removed and all(one.rows is not None and one.rows[0] == one.rows[1] for one in removed):
            yield f"no duplicate was found (line {removed[0].line}), though the question mentions some"
    several = [fact for one in signals.operations for fact in one.facts if fact.kind in SEVERAL]
    if asked_rows.asks_for_latest(prompt) and several and not picks:
        yield f"the question asks for the latest state, but each {several[0].label or 'key'} has several rows"
    if asked_rows.asks_for_unmatched(prompt):
        yield from _unmatched_lost(signals.operations)


def _unmatched_lost(operations: Sequence[Operation]) -> Iterator[str]:
    """Yield joins that leave rows without a match out, and filters that do after a join has kept them."""
    is_kept = False
    for one in operations:
        lost = sum(fact.count for fact in one.facts if fact.kind in ("lost_left", "lost_right"))
        if one.kind == "join" and lost:
            yield f"{lost:,} rows without a match left out (line {one.line}), though the question asks for all"
        is_fewer = one.rows is not None and one.rows[1] < one.rows[0]
        if is_kept and one.kind in ("filter", "drop_missing") and is_fewer:
            yield f"the filter after the join leaves out rows without a match (line {one.line})"
        is_kept = is_kept or any(fact.kind == "unmatched_left" for fact in one.facts)


def _hard_for_the_model(signals: Signals) -> str:
    """Return why the model's own way to the result speaks against it; empty if it does not.

    On the development half of DABench 12 of 17 such results were wrong, of the other corrected ones 5 of 23.
    """
    if signals.replies >= MANY_REPLIES:
        return f"the model needed {signals.replies} attempts"
    lines = sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in signals.code.splitlines())
    if lines >= MANY_LINES and (signals.corrections or signals.replies > 1):
        return f"the model's program of {lines} lines had to be corrected"
    return ""


def _further_reasons(signals: Signals) -> Iterator[str]:
    for one in signals.operations:
        if one.kind == "filter" and one.rows is not None and one.rows[0] and not one.rows[1]:
            yield f"the filter leaves no rows (line {one.line})"
    if signals.replies > 1:
        yield f"the model needed {signals.replies} attempts"
    if signals.corrections:
        yield "the model's program had to be corrected"
    if signals.not_observed:
        yield f"what the code did to the rows could not be observed ({signals.not_observed})"
    if signals.databases:
        yield f"what its queries did to the rows of {' and '.join(signals.databases)} was not counted"


def _loses_much(one: Operation, fact: OperationFact, signals: Signals, prompt: str) -> bool:
    """Check whether a fact that is worth a look makes the result doubtful: it is of too many rows."""
    share = fact.count / fact.of if fact.of else 0
    counts = {other.kind: other.count / other.of for other in one.facts if other.of}
    match fact.kind:
        case "became_missing":
            reads = one.name in READS_TEXT or (one.name == "with_columns" and "strict=False" in one.detail)
            later = signals.operations[signals.operations.index(one) + 1 :]
            is_used = any(after.kind in ("group", "aggregate") for after in later)
            return reads and share >= MANY_UNREAD and is_used and not asked_rows.asks_without_missing(prompt)
        case "lost_left":
            return share > MOST and counts.get("unmatched_right", 0) > MOST
        case "dropped_for":
            return share > MOST
        case "duplicate_rows":
            return share >= MANY_DUPLICATES
        case "unmatched_left" if "lost_left" not in counts:
            is_asked = asked_rows.asks_for_matches(prompt)
            return share > MOST and counts.get("lost_right", 0) > MOST and not is_asked
        case _:
            return False


def _first_of(facts: Sequence[tuple[Operation, OperationFact]]) -> str:
    """Return the gravest reason, and how many more there are."""
    gravest, more = _reason(*facts[0]), len(facts) - 1
    if not more:
        return gravest
    return f"{gravest}, and {more} more reason{'s' if more > 1 else ''}"


def _reason(one: Operation, fact: OperationFact) -> str:
    return f"{fact_text(fact)} (line {one.line})"


def _what_was_looked_at(signals: Signals) -> str:
    steps = len(signals.operations)
    if not steps:
        return "no step of the code has rows to count"
    observed = f"lost, repeated or mixed up in {counted(steps, 'observed step')}"
    left_out = sum(before - after for before, after in map(_rows_for_missing, signals.operations))
    if not left_out:
        return f"nothing {observed}"
    return f"{counted(left_out, 'row')} left out for missing values, nothing else {observed}"


def _rows_for_missing(one: Operation) -> tuple[int, int]:
    """Return the rows before and after a step that leaves out what is missing; none of another step."""
    is_of_missing = one.rows is not None and any(fact.kind == "missing" for fact in one.facts)
    return one.rows if is_of_missing and one.rows is not None else (0, 0)
