"""The task as it is told: its parts, and how the terms in it are computed."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from scipy import stats

from jupyter_codeagent.agent.prompt.formulas import MAX_TERMS, formulas_for
from jupyter_codeagent.agent.prompt.question_parts import parts_of
from jupyter_codeagent.agent.prompt.system import first_messages, prefill
from jupyter_codeagent.agent.prompt.task import first_part, task_text
from jupyter_codeagent.types.tagged_text import TaggedText


@pytest.mark.parametrize(
    ("prompt", "parts"),
    [
        ("Mean fare by class?", ("Mean fare by class",)),
        ("How many rows are there, and what is the mean age?", ("How many rows are there", "what is the mean age")),
        (
            "Give the sum of sales of the total and of each shop.",
            ("Give the sum of sales of the total", "Give the sum of sales of each shop"),
        ),
        (
            "Drop the rows without an age. Which port is the most frequent? Show the counts.",
            ("Drop the rows without an age", "Which port is the most frequent, show the counts"),
        ),
        (
            "Sales by shop: show the mean, then the median per month and the share of each shop.",
            ("show the mean", "the median per month and the share of each shop"),
        ),
        (
            "Show by shop: the mean of sales, and the share of the total",
            ("the mean of sales", "the share of the total"),
        ),
        ("Times are written as hhmm. How many are after noon?", ("How many are after noon",)),
        ("Plot the mean of a and b over time, with labels.", ("Plot the mean of a and b over time, with labels",)),
        ("How many rows are there? Keep it as counts.", ("How many rows are there",)),
        (
            "How many rows are there,\nand what is the mean age?",
            ("How many rows are there", "what is the mean age"),
        ),
        ("1. How many rows are there?\n2. What is the mean age?", ()),
        ("- How many rows are there?\n- What is the mean age?", ()),
        ('How many rows are there? What is the mean age?\nEnd with:\nprint(f"{rows} {age}")', ()),
        ("", ()),
        (
            "What share left early (within a year; and no date means still there)? How many came back later?",
            ("What share left early (within a year; and no date means still there)", "How many came back later"),
        ),
    ],
)
def test_a_question_is_split_into_what_it_asks_for(prompt: str, parts: tuple[str, ...]) -> None:
    assert parts_of(prompt) == parts


def test_parts_are_told_as_a_list_and_the_first_begins_the_code() -> None:
    prompt = "How many rows are there, and what is the mean age?"
    parts = "1. How many rows are there\n2. what is the mean age"
    assert task_text(prompt) == f"Task: {prompt}\nParts:\n{parts}\nPrint each number with its name."
    assert first_part(prompt) == "# 1. How many rows are there\n"
    assert prefill(["df"], part=first_part(prompt)).text.endswith("loaded\n# 1. How many rows are there\n")
    assert first_messages(TaggedText(), prompt)[-1].content == task_text(prompt)


def test_a_question_for_one_thing_is_told_as_it_was_asked() -> None:
    assert task_text("Mean fare by class?") == "Task: Mean fare by class?"
    assert first_part("Mean fare by class?") == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "It failed\n```python\nx = 1  # keep it as y. How many rows? What is the mean?\n```\nWrite it.",
        "How many rows are there, and what is the Welch t test? " + "Keep it as y, " * 400,
    ],
)
def test_code_to_be_corrected_and_pages_of_text_are_told_as_they_are(prompt: str) -> None:
    assert task_text(prompt) == f"Task: {prompt.strip()}"
    assert first_part(prompt) == ""


def test_two_parts_with_a_term_are_told_the_term_only() -> None:
    text = task_text("Do a Welch t test of age by sex, and show the group sizes.")
    assert "Parts:" not in text
    assert text.count("\n- Welch's t test: ") == 1


@pytest.mark.parametrize(
    ("prompt", "term"),
    [
        ("What did each shop contribute to the total change?", "contribution"),
        ("By how many percent did sales rise?", "percent change"),
        ("Which fares are outliers by the IQR rule?", "IQR rule"),
        ("Fares more than 3 standard deviations from the mean?", "z ="),
        ("Run a chi-square test of sex and survival", "chi-square"),
        ("Is age normal? Use Shapiro-Wilk.", "Shapiro-Wilk"),
        ("How are age and fare correlated within each class?", "correlation in groups"),
        ("Regress fare on age", "simple regression"),
        ("7-day moving average of sales", "moving average"),
        ("Fill the missing ages with the mean of the same class", "fill by group"),
        ("Orders of customers missing from the customers table", "rows without a match"),
    ],
)
def test_a_term_is_told_with_how_it_is_computed(prompt: str, term: str) -> None:
    assert formulas_for(prompt)[0].startswith(term)


@pytest.mark.parametrize(
    "prompt",
    [
        "Make a feature 'Volatility' that is calculated as (High - Low) / Open. Its correlation with volume?",
        "Correlation of the volatility with volume, where Volatility = (High - Low) / Open?",
        "Outliers by the IQR rule: below Q1 - 1.5 * IQR or above Q3 + 1.5 * IQR",
        "Train a linear regression on age and class",
        "Predict the fare by linear regression. Evaluate it with the mean squared error.",
    ],
)
def test_a_term_that_the_question_defines_itself_or_means_otherwise_is_not_told(prompt: str) -> None:
    assert [term for term in formulas_for(prompt) if re.search("volatility|IQR|simple regression", term)] == []


def test_z_is_told_in_groups_where_the_question_has_groups() -> None:
    assert formulas_for("Fares with a z-score above 3?") == ("z = (x - x.mean()) / x.std()",)
    grouped = formulas_for("Penguins more than 2 standard deviations from the mean of their species")
    assert [term.partition(" =")[0].partition(":")[0] for term in grouped] == ["z", "z in groups"]


def test_most_questions_name_no_term_and_none_gets_many() -> None:
    assert formulas_for("Mean fare by class, highest first") == ()
    many = "Welch, ANOVA, Mann-Whitney, chi-square, Shapiro and Spearman tests please"
    assert len(formulas_for(many)) == MAX_TERMS


@pytest.mark.parametrize("asked", ["Spearman's rho?{}", "{}. Spearman's rho?"])
def test_a_term_is_found_before_and_behind_pasted_data(asked: str) -> None:
    assert formulas_for(asked.format(" 1, 2, 3" * 10_000))


@pytest.mark.parametrize(
    ("prompt", "value"),
    [
        ("contribution to the change", [-10, 30, 80]),
        ("percent change", [-10, 15, 20]),
        ("weighted mean", 26),
        ("cagr", 1.0),
        ("Cohen's d", -1.0),
        ("odds ratio", 6.0),
        ("drawdown", -0.5),
        ("annualised volatility of months", 0.0),
        ("longest dry spell", [2, 1]),
        ("outliers by the IQR rule", [100]),
        ("fill missing values with the median of the group", [1, 1, 5, 4]),
        ("eta squared", 0.5),
    ],
)
def test_a_formula_gives_the_figure_that_its_term_means(prompt: str, value: object) -> None:
    """Run as it stands, up to the words behind it."""
    [computed] = formulas_for(prompt)
    formula = re.split(r", 252| in order| of the 2x2| of months", computed.partition(": ")[2])[0]
    *before, last = formula.split("; ")
    names = dict(_EXAMPLE[prompt])
    for statement in before:
        exec(statement, names)
    found = eval(last.partition(" = ")[2] or last, names)
    shown = found.tolist() if isinstance(found, pd.Series) else found
    assert shown == pytest.approx(value)


_X = pd.Series([10.0, 20.0, 30.0])
_GROUPS = pd.DataFrame({"g": ["a", "a", "b", "b"], "x": [1.0, None, 5.0, 4.0]})
_EXAMPLE: dict[str, dict[str, object]] = {
    "contribution to the change": {"change": pd.Series([-1.0, 3.0, 8.0])},
    "percent change": {"before": _X, "after": pd.Series([9.0, 23.0, 36.0])},
    "weighted mean": {"x": _X, "w": pd.Series([0, 2, 3])},
    "cagr": {"first": 1, "last": 4, "years": 2},
    "Cohen's d": {"a": pd.Series([1.0, 2.0, 3.0]), "b": pd.Series([2.0, 3.0, 4.0])},
    "odds ratio": {"a": 3, "b": 1, "c": 1, "d": 2},
    "drawdown": {"x": pd.Series([1.0, 4.0, 2.0, 3.0])},
    "annualised volatility of months": {"x": pd.Series([1.0, 2.0, 4.0])},
    "longest dry spell": {"cond": pd.Series([True, True, False, True])},
    "outliers by the IQR rule": {"x": pd.Series([1, 2, 3, 4, 100])},
    "fill missing values with the median of the group": {"df": _GROUPS},
    "eta squared": {
        "df": pd.DataFrame({"g": ["a", "a", "b", "b", "b"], "x": [0.0, 2.0, 2.0, 4.0, None]}),
    },
}


def test_every_test_that_is_named_exists() -> None:
    prompts = ["Welch", "paired t test", "Mann-Whitney", "chi-square", "ANOVA", "Kruskal", "Shapiro", "Spearman",
               "confidence interval", "regress y on x", "Pearson r and p"]  # fmt: skip
    for prompt in prompts:
        [name] = re.findall(r"stats\.(\w+)", formulas_for(prompt)[0])
        assert hasattr(stats, name)
