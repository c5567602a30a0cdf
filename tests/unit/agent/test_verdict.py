"""The verdict on a result, and what was assumed: pure functions of what was counted."""

from __future__ import annotations

import pytest

from jupyter_codeagent.agent.run_facts import WARNING
from jupyter_codeagent.agent.verdict.assumptions import MAX_ASSUMPTIONS, find_assumptions
from jupyter_codeagent.agent.verdict.signals import Signals, handles_missing
from jupyter_codeagent.agent.verdict.verdict import DOUBTFUL, LOOK, judge
from jupyter_codeagent.sandbox.operation_text import FACTS, fact_text
from jupyter_codeagent.types.operations import FactKind, Operation, OperationFact, OperationKind

PROMPT = "What is the mean fare by class?"


def operation(
    *facts: OperationFact, kind: OperationKind = "group", name: str = "mean", rows: tuple[int, int] = (100, 3)
) -> Operation:
    return Operation(kind=kind, name=name, rows=rows, line=2, facts=facts)


def fact(kind: FactKind, count: int = 5, of: int = 100, label: str = "fare") -> OperationFact:
    return OperationFact(kind=kind, count=count, of=of, label=label)


def test_a_result_that_nothing_speaks_against_is_checked_and_says_what_was_looked_at() -> None:
    verdict = judge(Signals(operations=(operation(fact("groups"), fact("skipped")),)), PROMPT)
    assert (verdict.level, verdict.reason) == ("checked", "nothing lost, repeated or mixed up in 1 observed step")


@pytest.mark.parametrize("kind", DOUBTFUL)
def test_a_fact_that_makes_a_result_wrong_makes_it_doubtful_with_its_words_and_line(kind: FactKind) -> None:
    verdict = judge(Signals(operations=(operation(fact("missing_keys"), fact(kind)),)), PROMPT)
    assert (verdict.level, verdict.reason) == ("doubtful", f"{fact_text(fact(kind))} (line 2)")


@pytest.mark.parametrize("kind", [kind for kind in LOOK if kind != "repeated_ids"])
def test_a_fact_that_a_person_should_know_asks_for_a_look(kind: FactKind) -> None:
    verdict = judge(Signals(operations=(operation(fact(kind)),)), PROMPT)
    assert (verdict.level, verdict.reason) == ("look", f"{fact_text(fact(kind))} (line 2)")


@pytest.mark.parametrize("kind", [*DOUBTFUL, *LOOK])
def test_each_reason_has_words_of_its_own(kind: FactKind) -> None:
    assert kind in FACTS


def test_a_warning_that_was_not_mended_makes_a_result_doubtful() -> None:
    verdict = judge(Signals(warning=f"{WARNING}all values are missing. Check the join."), PROMPT)
    assert (verdict.level, verdict.reason) == ("doubtful", "all values are missing")


@pytest.mark.parametrize(
    ("signals", "reason"),
    [
        (Signals(replies=3), "the model needed 3 attempts"),
        (Signals(corrections=("match-values",)), "the model's program had to be corrected"),
        (
            Signals(not_observed="RuntimeError: x"),
            "what the code did to the rows could not be observed (RuntimeError: x)",
        ),
        (Signals(operations=(operation(kind="filter", rows=(9, 0)),)), "the filter leaves no row (line 2)"),
    ],
)
def test_what_was_hard_or_could_not_be_seen_asks_for_a_look(signals: Signals, reason: str) -> None:
    verdict = judge(signals, PROMPT)
    assert (verdict.level, verdict.reason) == ("look", reason)


@pytest.mark.parametrize(
    ("prompt", "kind", "label"),
    [
        ("What is the mean fare of the first 5 rows?", "part_of_rows", "head(5)"),
        ("Mean fare by class, without missing ones?", "missing_keys", "class"),
        ("Mean fare of those whose class is known?", "missing", "class"),
        ("What is the mean fare?", "repeated_ids", "passenger_id"),
    ],
)
def test_what_the_prompt_asks_for_is_no_reason(prompt: str, kind: FactKind, label: str) -> None:
    assert judge(Signals(operations=(operation(fact(kind, label=label)),)), prompt).level == "checked"


def test_identifiers_are_counted_where_the_prompt_counts_what_they_name() -> None:
    signals = Signals(operations=(operation(fact("repeated_ids", label="passenger_id")),))
    assert judge(signals, "How many passengers are in each class?").level == "look"


def test_what_the_program_deals_with_is_no_reason() -> None:
    missing = operation(fact("missing_keys"))
    assert judge(Signals(operations=(missing,), handles_missing=True), PROMPT).level == "checked"
    repeated = operation(fact("duplicate_rows"))
    dropped = operation(kind="deduplicate", name="drop_duplicates", rows=(100, 95))
    assert judge(Signals(operations=(repeated, dropped)), PROMPT).level == "checked"
    masked = operation(fact("became_missing"), kind="convert", name="where")
    assert judge(Signals(operations=(masked,)), PROMPT).level == "checked"


def test_a_program_that_names_missing_values_deals_with_them() -> None:
    assert handles_missing("df[df.a.notna()]")
    assert handles_missing("df.groupby('a', dropna=False)")
    assert not handles_missing("df.groupby('a').mean()")


def test_assumptions_are_chips_with_the_other_choice_the_most_important_first_each_once() -> None:
    one = operation(fact("skipped"), fact("missing_keys", label="class"), fact("ties", 1, label=""))
    found = find_assumptions([one, one], PROMPT)
    assert [(chip.text, chip.refinement) for chip in found] == [
        ("5 rows without class left out", "keep the rows without class as a group of their own"),
        ("5 missing values of fare skipped", "count missing values of fare as 0"),
        ("1 more row tie with the last one", "include all rows that tie with the last one"),
    ]
    assert {chip.line for chip in found} == {2}


def test_a_deviation_of_a_sample_and_dropped_duplicates_are_assumptions_unless_asked_for() -> None:
    deviation = operation(name="std", kind="aggregate")
    dropped = operation(kind="deduplicate", name="drop_duplicates", rows=(100, 95))
    assert [chip.text for chip in find_assumptions([deviation, dropped], PROMPT)] == [
        "sample standard deviation",
        "5 duplicates left out",
    ]
    asked = "Population deviation without duplicates?"
    assert find_assumptions([deviation, dropped], asked) == ()


def test_there_are_not_more_chips_than_one_can_read() -> None:
    many = [operation(fact("skipped", label=f"column {at}")) for at in range(10)]
    assert len(find_assumptions(many, PROMPT)) == MAX_ASSUMPTIONS
