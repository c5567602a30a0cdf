"""The verdict on a result: *checked*, *look* or *doubtful*, with its reason in one line.

Pure functions of what was counted and recorded; no further call of the model. docs/evals.md says how right each is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jupyter_codeagent.agent.run_facts import WARNING
from jupyter_codeagent.agent.verdict.signals import Signals
from jupyter_codeagent.sandbox.operation_text import fact_text
from jupyter_codeagent.types.operations import FactKind, Operation, OperationFact
from jupyter_codeagent.types.run import Verdict

DOUBTFUL: tuple[FactKind, ...] = (
    "types_differ",
    "numbers_as_text",
    "mixed_dates",
    "other_date_order",
    "epoch_without_unit",
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
    "mean_of_means",
    "constant_per_id",
    "overlap",
    "duplicate_rows",
)
"""Facts that make a result wrong as a rule; of several the first is the reason."""
LOOK: tuple[FactKind, ...] = (
    "missing_keys",
    "missing",
    "lost_left",
    "became_missing",
    "absent_value",
    "ambiguous_dates",
    "ties",
    "repeated_keys",
    "repeated_ids",
    "case_variants",
    "repeated_sums",
    "unmatched_labels",
    "not_counted",
)
"""Facts that a person should know before using the result."""
INTENDED = frozenset({"where", "mask", "reindex"})
"""Methods that make values missing on purpose."""
_MISSING_ASKED = re.compile(
    r"\b(?:known|complete|available|valid|(?:without|non|no)[- ](?:missing|null|nan)|exclud\w*|ignor\w*|drop\w*"
    r"|remov\w*|clean\w*|not count\w*|leave out|left out)\b",
    re.IGNORECASE,
)
"""Words of a prompt that settles what happens to missing values."""
_PART_ASKED = re.compile(
    r"\b(?:first|last|sample|samples|preview|head|tail|example|examples|show|display|list)\b", re.IGNORECASE
)
_COUNTED = re.compile(r"\b(?:how many|number of|count(?: of| the)?)((?:\W+\w+){1,3})")
_ID_ENDING = re.compile(r"(?:^|[_\s])(?:id|key|uuid|number|no|nr|code)$|Id$|ID$")


def judge(signals: Signals, prompt: str) -> Verdict:
    """Return the verdict on the result of a run."""
    if signals.warning:
        return Verdict(level="doubtful", reason=signals.warning.removeprefix(WARNING).split(". ")[0].rstrip("."))
    facts = {fact.kind: (one, fact) for one, fact in reversed(list(_facts(signals, prompt)))}
    for kind in DOUBTFUL:
        if kind in facts:
            return Verdict(level="doubtful", reason=_reason(*facts[kind]))
    for kind in LOOK:
        if kind in facts:
            return Verdict(level="look", reason=_reason(*facts[kind]))
    for reason in _further_reasons(signals):
        return Verdict(level="look", reason=reason)
    return Verdict(level="checked", reason=_what_was_looked_at(signals))


def _facts(signals: Signals, prompt: str) -> Iterator[tuple[Operation, OperationFact]]:
    """Yield the facts that neither the prompt asks for nor the program deals with."""
    settled = _settled(signals)
    is_filled = any(one.kind == "fill" for one in signals.operations)
    for one in signals.operations:
        for fact in one.facts:
            intended = one.name in INTENDED or (one.name == "map" and is_filled)
            if fact.kind == "became_missing" and intended:
                continue
            if fact.count and fact.kind not in settled and not _is_asked(fact, prompt):
                yield one, fact


def _settled(signals: Signals) -> frozenset[FactKind]:
    """Return the facts that the program itself deals with: it names missing values, or drops duplicates."""
    kinds: set[FactKind] = {"missing_keys", "missing"} if signals.handles_missing else set()
    if any(one.kind == "deduplicate" for one in signals.operations):
        kinds |= {"overlap", "duplicate_rows", "repeated_keys"}
    return frozenset(kinds)


def _is_asked(fact: OperationFact, prompt: str) -> bool:
    """Check whether the prompt asks for a part of the rows, or for what is not missing.

    An identifier that has several rows is what every table of events has, unless the prompt counts those that it
    names: ``how many patients`` by the rows of a `patient_id`.
    """
    match fact.kind:
        case "repeated_ids":
            return not _counts(fact.label, prompt)
        case "missing_keys" | "missing":
            return _MISSING_ASKED.search(prompt) is not None
        case "part_of_rows":
            numbers = re.findall(r"\d+", prompt.replace(",", ""))
            return _PART_ASKED.search(prompt) is not None or str(fact.count) in numbers
        case _:
            return False


def _counts(label: str, prompt: str) -> bool:
    """Check whether the prompt counts what an identifier names."""
    stem = _ID_ENDING.sub("", label).strip("_ ").lower().rstrip("s")
    return len(stem) > 2 and any(stem in words for words in _COUNTED.findall(prompt.lower()))


def _further_reasons(signals: Signals) -> Iterator[str]:
    for one in signals.operations:
        if one.kind == "filter" and one.rows is not None and one.rows[0] and not one.rows[1]:
            yield f"the filter leaves no row (line {one.line})"
    if signals.replies > 1:
        yield f"the model needed {signals.replies} attempts"
    if signals.corrections:
        yield "the model's program had to be corrected"
    if signals.not_observed:
        yield f"what the code did to the rows could not be observed ({signals.not_observed})"


def _reason(one: Operation, fact: OperationFact) -> str:
    return f"{fact_text(fact)} (line {one.line})"


def _what_was_looked_at(signals: Signals) -> str:
    steps = len(signals.operations)
    return f"nothing lost, repeated or mixed up in {steps} observed step{'' if steps == 1 else 's'}"
