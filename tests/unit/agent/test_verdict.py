"""The verdict on a result, and what was assumed: pure functions of what was counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jupyter_codeagent.agent.run_facts import WARNING
from jupyter_codeagent.agent.verdict.assumptions import MAX_ASSUMPTIONS, find_assumptions
from jupyter_codeagent.agent.verdict.signals import Signals
from jupyter_codeagent.agent.verdict.verdict import ASKED, DOUBTFUL, LOOK, judge
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


@pytest.mark.parametrize("kind", [kind for kind in DOUBTFUL if kind != "part_of_top"])
def test_a_fact_that_makes_a_result_wrong_makes_it_doubtful_with_its_words_and_line(kind: FactKind) -> None:
    verdict = judge(Signals(operations=(operation(fact(kind)),)), PROMPT)
    assert (verdict.level, verdict.reason) == ("doubtful", f"{fact_text(fact(kind))} (line 2)")


def test_of_several_reasons_the_gravest_is_said_and_how_many_more_there_are() -> None:
    one = operation(fact("missing_keys"), fact("ties"), fact("near_keys"))
    verdict = judge(Signals(operations=(one,)), PROMPT)
    assert verdict.level == "doubtful"
    assert verdict.reason == "5 keys would match but for the spelling (line 2), and 2 more reasons"
    look = judge(Signals(operations=(operation(fact("keyless"), fact("ties")),)), PROMPT)
    assert look.level == "look"
    assert (
        look.reason == "5 of 100 rows without fare left out as if they were duplicates (line 2), and 1 more reason"
    )


@pytest.mark.parametrize(
    ("lost", "later", "prompt", "level"),
    [
        (9, "aggregate", PROMPT, "doubtful"),
        (9, "group", PROMPT, "doubtful"),
        (2, "group", PROMPT, "look"),
        (9, "sort", PROMPT, "look"),
        (9, "group", "What is the mean of the valid fares?", "look"),
    ],
)
def test_a_figure_of_texts_of_which_many_could_not_be_read_is_doubtful(
    lost: int, later: OperationKind, prompt: str, level: str
) -> None:
    read = operation(fact("became_missing", lost), kind="convert", name="to_numeric")
    verdict = judge(Signals(operations=(read, operation(kind=later))), prompt)
    assert (verdict.level, verdict.reason) == (level, f"{lost} values of fare became missing (line 2)")


def test_a_join_that_matches_few_rows_of_either_table_is_doubtful_and_says_how_many() -> None:
    def joined(of_left: int, of_right: int) -> Operation:
        facts = fact("lost_left", of_left), fact("unmatched_right", of_right)
        return operation(*facts, kind="join", name="merge")

    few = judge(Signals(operations=(joined(99, 97),)), PROMPT)
    assert (few.level, few.reason) == ("doubtful", "only 1 of 100 rows matched (line 2)")
    # The right table may be a selection, to whose rows the question is restricted.
    selected = judge(Signals(operations=(joined(99, 0),)), PROMPT)
    assert (selected.level, selected.reason) == ("look", "only 1 of 100 rows matched (line 2)")
    some = judge(Signals(operations=(joined(40, 97),)), PROMPT)
    assert (some.level, some.reason) == ("look", "40 rows without a match left out (line 2)")
    left = operation(fact("unmatched_left", 99), fact("lost_right", 97), kind="join", name="merge")
    assert judge(Signals(operations=(left,)), PROMPT).level == "doubtful"


@pytest.mark.parametrize(
    "kind",
    [kind for kind in LOOK if kind not in ASKED or kind in ("lost_left", "missing_keys")],
)
def test_a_fact_that_a_person_should_know_asks_for_a_look(kind: FactKind) -> None:
    one = fact(kind, of=1000)
    verdict = judge(Signals(operations=(operation(one),)), PROMPT)
    assert (verdict.level, verdict.reason) == ("look", f"{fact_text(one)} (line 2)")


@pytest.mark.parametrize(("count", "level"), [(9, "look"), (10, "doubtful")])
def test_many_duplicate_rows_make_a_figure_doubtful_and_few_of_them_ask_for_a_look(count: int, level: str) -> None:
    verdict = judge(Signals(operations=(operation(fact("duplicate_rows", count, 1000)),)), PROMPT)
    assert verdict.level == level
    assert verdict.reason.startswith(f"{count} duplicate rows counted more than once")


@pytest.mark.parametrize("kind", [*DOUBTFUL, *LOOK])
def test_each_reason_has_words_of_its_own(kind: FactKind) -> None:
    assert kind in FACTS


def test_a_warning_that_was_not_mended_makes_a_result_doubtful() -> None:
    verdict = judge(Signals(warning=f"{WARNING}all values are missing. Check the join."), PROMPT)
    assert (verdict.level, verdict.reason) == ("doubtful", "all values are missing")


@pytest.mark.parametrize(
    ("signals", "reason"),
    [
        (Signals(replies=2), "the model needed 2 attempts"),
        (Signals(corrections=("match-values",)), "the model's program had to be corrected"),
        (
            Signals(not_observed="RuntimeError: x"),
            "what the code did to the rows could not be observed (RuntimeError: x)",
        ),
        (Signals(operations=(operation(kind="filter", rows=(9, 0)),)), "the filter leaves no rows (line 2)"),
        (Signals(databases=("db",)), "what its queries did to the rows of db was not counted"),
    ],
)
def test_what_was_hard_or_could_not_be_seen_asks_for_a_look(signals: Signals, reason: str) -> None:
    verdict = judge(signals, PROMPT)
    assert (verdict.level, verdict.reason) == ("look", reason)


@pytest.mark.parametrize(
    ("signals", "reason"),
    [
        (Signals(replies=3), "the model needed 3 attempts"),
        (
            Signals(code="# a comment\n" + "x = 1\n\n" * 10, corrections=("match-values",)),
            "the model's program of 10 lines had to be corrected",
        ),
        (Signals(code="x = 1\n" * 12, replies=2), "the model's program of 12 lines had to be corrected"),
    ],
)
def test_a_result_that_was_too_hard_for_the_model_is_doubtful(signals: Signals, reason: str) -> None:
    verdict = judge(signals, PROMPT)
    assert (verdict.level, verdict.reason) == ("doubtful", reason)


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


@pytest.mark.parametrize(
    ("prompt", "kind", "label"),
    [
        ("What is the average fare per booking?", "several_rows", "booking_id"),
        ("What share of all fares do the top 5 pay?", "part_of_top", "nlargest(5)"),
        ("What is the survival rate of each class?", "mean_of_ratios", "rate"),
        ("What is the fare by class?", "dropped_for", "cabin"),
    ],
)
def test_what_the_prompt_speaks_against_is_a_reason(prompt: str, kind: FactKind, label: str) -> None:
    one = operation(fact(kind, label=label))
    assert judge(Signals(operations=(one,)), prompt).reason == f"{fact_text(fact(kind, label=label))} (line 2)"
    assert judge(Signals(operations=(one,)), f"Mean of known cabin of each of {PROMPT}").level == "checked"


@pytest.mark.parametrize(
    ("kind", "label", "code"),
    [
        ("mixed_units", "unit: kg, g", "df['kg'] = df.qty.where(df['unit'] == 'kg', df.qty / 1000)"),
        ("cut_off", "weight: kg, g", "grams = df.weight.str.endswith(' g')"),
        ("dropped_for", "cabin", "df.dropna().groupby('cabin').size()"),
        ("later_years", "born", "born - pd.DateOffset(years=100)"),
    ],
)
def test_a_program_that_has_to_do_with_it_is_no_reason(kind: FactKind, label: str, code: str) -> None:
    one = operation(fact(kind, label=label))
    assert judge(Signals(operations=(one,)), PROMPT).level != "checked"
    assert judge(Signals(operations=(one,), code=code), PROMPT).level == "checked"


def test_what_a_join_found_no_value_for_matters_where_a_sum_skips_it() -> None:
    product = operation(fact("became_missing", label="hours without wage"), kind="convert", name="arithmetic")
    total, mean = (operation(fact("skipped"), name=name) for name in ("sum", "mean"))
    added = judge(Signals(operations=(product, total)), PROMPT)
    assert (added.level, added.reason) == ("look", "5 values of hours without wage became missing (line 2)")
    assert judge(Signals(operations=(product, mean)), PROMPT).level == "checked"
    assert judge(Signals(operations=(total, product)), PROMPT).level == "checked"


def test_values_that_a_program_replaces_by_missing_ones_are_no_reason() -> None:
    def replaced(detail: str) -> Operation:
        one = operation(fact("became_missing"), kind="convert", name="replace")
        return replace(one, detail=detail)

    assert judge(Signals(operations=(replaced("-9, np.nan"),)), PROMPT).level == "checked"
    assert judge(Signals(operations=(replaced("',', '.'"),)), PROMPT).level == "look"


@pytest.mark.parametrize(
    ("value", "level"), [("None", "checked"), ("pl.lit(None)", "checked"), ("pl.col('age') - 100", "look")]
)
def test_values_that_a_polars_program_makes_missing_are_no_reason(value: str, level: str) -> None:
    detail = f"pl.when(pl.col('age') == 999).then({value}).otherwise(pl.col('age')).alias('age')"
    one = replace(operation(fact("became_missing"), kind="columns", name="with_columns"), detail=detail)
    assert judge(Signals(operations=(one,)), PROMPT).level == level
    other = operation(fact("became_missing"), kind="columns", name="with_columns")
    cast = replace(one, detail=f"{detail}, pl.col('fee').cast(pl.Int64, strict=False)")
    assert judge(Signals(operations=(one, other)), PROMPT).level == "look", "what another call has lost counts"
    assert judge(Signals(operations=(cast,)), PROMPT).level == "look"


def test_rows_left_out_for_missing_values_are_said_and_are_no_reason_to_doubt() -> None:
    one = operation(fact("missing", 40, label="cabin"), kind="drop_missing", name="dropna", rows=(100, 55))
    verdict = judge(Signals(operations=(one, operation())), PROMPT)
    left_out = "45 rows left out for missing values, nothing else lost, repeated or mixed up in 2 observed steps"
    assert (verdict.level, verdict.reason) == ("checked", left_out)
    most = operation(fact("dropped_for", 80, label="cabin"), kind="drop_missing", name="dropna", rows=(100, 10))
    assert judge(Signals(operations=(most,)), PROMPT).level == "doubtful"


def test_what_the_question_says_and_the_program_passes_over_is_a_reason_to_look() -> None:
    passed_over = ("the question names fare, and the code does not use it",)
    verdict = judge(Signals(operations=(operation(),), unheeded=passed_over), PROMPT)
    assert (verdict.level, verdict.reason) == ("look", passed_over[0])


def test_a_choice_of_columns_does_nothing_with_the_units() -> None:
    one = operation(fact("mixed_units", label="unit: kg, g"))
    assert judge(Signals(operations=(one,), code="df[['qty', 'unit']].qty.sum()"), PROMPT).level == "doubtful"


LEFT = operation(fact("lost_right", 7), kind="join", name="merge")
KEPT = operation(kind="deduplicate", name="drop_duplicates", rows=(100, 100))


@pytest.mark.parametrize(
    ("prompt", "operations", "code", "reason"),
    [
        (
            "Mean age? Some answered twice.",
            (operation(),),
            "df.age.mean()",
            "the question mentions duplicate records, but no step leaves them out",
        ),
        (
            "Mean age without duplicates?",
            (KEPT,),
            "df.drop_duplicates().age.mean()",
            "no duplicate was found (line 2), though the question mentions some",
        ),
        (
            "What is the current salary by site?",
            (operation(fact("repeated_ids", label="staff_no")),),
            "df.groupby('site').salary.sum()",
            "the question asks for the latest state, but each staff_no has several rows",
        ),
        (
            "Visits by member, no-shows count as zero?",
            (LEFT,),
            "visits.merge(members)",
            "7 rows without a match left out (line 2), though the question asks for all",
        ),
    ],
)
def test_what_the_prompt_says_of_the_rows_and_no_step_heeds_asks_for_a_look(
    prompt: str, operations: tuple[Operation, ...], code: str, reason: str
) -> None:
    verdict = judge(Signals(operations=operations, code=code), prompt)
    assert (verdict.level, verdict.reason) == ("look", reason)
    assert judge(Signals(operations=operations, code=code), PROMPT).level == "checked"


def test_identifiers_are_counted_where_the_prompt_counts_what_they_name() -> None:
    signals = Signals(operations=(operation(fact("repeated_ids", label="passenger_id")),))
    assert judge(signals, "How many passengers are in each class?").level == "look"


def test_what_the_program_deals_with_is_no_reason() -> None:
    missing = operation(fact("missing_keys"))
    assert judge(Signals(operations=(missing,), code="df[df.a.notna()]"), PROMPT).level == "checked"
    repeated = operation(fact("duplicate_rows"))
    dropped = operation(kind="deduplicate", name="drop_duplicates", rows=(100, 95))
    assert judge(Signals(operations=(repeated, dropped)), PROMPT).level == "checked"
    masked = operation(fact("became_missing"), kind="convert", name="where")
    assert judge(Signals(operations=(masked,)), PROMPT).level == "checked"


def test_a_program_that_names_missing_values_deals_with_them() -> None:
    def level(code: str) -> str:
        return judge(Signals(operations=(operation(fact("missing_keys")),), code=code), PROMPT).level

    assert level("df[df.a.notna()]") == "checked"
    assert level("df.groupby('a', dropna=False)") == "checked"
    assert level("df.groupby('a').mean()") == "look"


def test_a_figure_that_one_row_makes_up_is_a_chip_and_no_doubt() -> None:
    one = operation(fact("single_row", 97, label="amount of its customer"))
    [chip] = find_assumptions([one], PROMPT)
    assert (chip.text, chip.refinement) == ("one row makes up 97 % of the amount of its customer", "")
    assert judge(Signals(operations=(one,)), PROMPT).level == "checked"


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


def test_the_other_choice_of_a_count_is_to_count_all_rows() -> None:
    counted = operation(fact("skipped"), kind="aggregate", name="count")
    [chip] = find_assumptions([counted], PROMPT)
    assert (chip.text, chip.refinement) == ("5 missing values of fare skipped", "count all rows")


def test_a_choice_that_the_prompt_has_asked_for_and_the_program_has_not_made_is_not_offered_again() -> None:
    one = operation(fact("skipped"), fact("ties", 3, label=""))
    asked = f"{PROMPT}\ncount missing values of fare as 0"
    assert [(chip.text, chip.refinement) for chip in find_assumptions([one], asked)] == [
        ("5 missing values of fare skipped", ""),
        ("3 more rows tie with the last one", "include all rows that tie with the last one"),
    ]


def test_rows_without_a_key_are_no_duplicates() -> None:
    dropped = operation(fact("keyless", 4, 5, "id"), kind="deduplicate", name="drop_duplicates", rows=(100, 95))
    assert [(chip.text, chip.refinement) for chip in find_assumptions([dropped], PROMPT)] == [
        ("4 rows without id left out as duplicates", "keep all rows without id"),
        ("1 duplicate left out", "keep duplicate rows"),
    ]


def test_there_are_not_more_chips_than_one_can_read() -> None:
    many = [operation(fact("skipped", label=f"column {at}")) for at in range(10)]
    assert len(find_assumptions(many, PROMPT)) == MAX_ASSUMPTIONS
