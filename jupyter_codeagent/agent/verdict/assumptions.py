"""What a program decided without being asked, and what to ask for the other choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from jupyter_codeagent.types.operations import FactKind, Operation, OperationFact
from jupyter_codeagent.types.run import Assumption

MAX_ASSUMPTIONS = 4


class Choice(NamedTuple):
    """How a fact reads on a chip, and the refinement that asks for the other choice; both with ``{label}``."""

    text: str
    refinement: str


CHOICES: dict[FactKind, Choice] = {
    "part_of_rows": Choice("only {count} of {of} rows", "use all rows, not only a part of them"),
    "lost_left": Choice("{count} rows without a match left out", "keep the rows without a match (left join)"),
    "counted_no": Choice("{count} missing values of {label} counted as no", "leave out rows without {label}"),
    "counted_yes": Choice("{count} missing values of {label} counted as yes", "leave out rows without {label}"),
    "keyless": Choice("{count} rows without {label} left out as duplicates", "keep all rows without {label}"),
    "ambiguous_dates": Choice("dates in {label} read month first", "read the dates of {label} day first"),
    "missing_keys": Choice(
        "{count} rows without {label} left out", "keep the rows without {label} as a group of their own"
    ),
    "missing": Choice("{count} rows without {label} left out", "keep the rows without {label}"),
    "skipped": Choice("{count} missing values of {label} skipped", "count missing values of {label} as 0"),
    "became_missing": Choice(
        "{count} values of {label} became missing", "show the values of {label} that could not be converted"
    ),
    "placeholders": Choice(
        "{count} text values of {label} read as missing", "show the values of {label} that could not be converted"
    ),
    "ties": Choice("{count} more rows tie with the last one", "include all rows that tie with the last one"),
    "single_row": Choice("one row makes up {count} % of the {label}", ""),
    "duplicate_rows": Choice("{count} duplicate rows counted", "count duplicate rows once"),
    "filled": Choice("{count} missing values of {label} filled", "leave missing values of {label} missing"),
    "time_zone": Choice("times in {label}", "keep the times in their own time zone"),
}
"""In the order of what matters most."""
COUNTED = Choice(CHOICES["skipped"].text, "count all rows")
"""Of a count, which has no use for a value in place of a missing one."""
SAMPLE_DEVIATION = Choice("sample standard deviation", "use the population standard deviation (ddof=0)")
SAMPLE_VARIANCE = Choice("sample variance", "use the population variance (ddof=0)")
DUPLICATES_LEFT_OUT = Choice("{count} duplicates left out", "keep duplicate rows")


def find_assumptions(operations: Sequence[Operation], prompt: str) -> tuple[Assumption, ...]:
    """Return what the program decided silently, what matters most first, each once.

    The other choice is not offered where the prompt has asked for it: the program has decided again as before.
    """
    found = [(rank, chip) for one in operations for rank, chip in _of_operation(one, prompt)]
    found.sort(key=lambda pair: pair[0])
    by_text = {chip.text: chip for _, chip in reversed(found)}
    ordered = dict.fromkeys(chip.text for _, chip in found)
    asked = {line.strip() for line in prompt.splitlines()}
    chips = (by_text[text] for text in ordered)
    return tuple(replace(one, refinement="") if one.refinement in asked else one for one in chips)[:MAX_ASSUMPTIONS]


def _of_operation(one: Operation, prompt: str) -> Iterator[tuple[int, Assumption]]:
    ranks = {kind: at for at, kind in enumerate(CHOICES)}
    for fact in one.facts:
        if fact.kind in CHOICES and fact.count and (fact.label or "{label}" not in CHOICES[fact.kind].text):
            choice = COUNTED if fact.kind == "skipped" and one.name == "count" else CHOICES[fact.kind]
            yield ranks[fact.kind], _assumption(choice, fact, one.line)
    words = prompt.lower()
    is_deviation_asked = "ddof" in one.detail or "population" in words or "sample" in words
    if one.kind in ("group", "aggregate") and not is_deviation_asked:
        if one.name in ("std", "sem"):
            yield len(ranks), _assumption(SAMPLE_DEVIATION, OperationFact(kind="groups"), one.line)
        elif one.name == "var":
            yield len(ranks), _assumption(SAMPLE_VARIANCE, OperationFact(kind="groups"), one.line)
    if one.kind == "deduplicate" and one.duplicates_left_out and "duplic" not in words:
        lost = OperationFact(kind="groups", count=one.duplicates_left_out)
        yield len(ranks), _assumption(DUPLICATES_LEFT_OUT, lost, one.line)


def _assumption(choice: Choice, fact: OperationFact, line: int) -> Assumption:
    values = {"count": f"{fact.count:,}", "of": f"{fact.of or 0:,}", "label": fact.label}
    text = choice.text.format(**values)
    if fact.count == 1:
        for plural in ("rows", "values", "duplicates"):
            text = text.replace(plural, plural[:-1], 1)
    return Assumption(text=text, refinement=choice.refinement.format(**values), line=line)
