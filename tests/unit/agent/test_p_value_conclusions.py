"""A verdict follows from the p value, in the words that were asked for; else nothing is changed."""

from __future__ import annotations

import time
from collections.abc import Collection

import pytest
from rule_calls import as_meant, correct

SHAPIRO = "w, p = stats.shapiro(x)\n"


def concluded(code: str, prompt: str = "", defined: Collection[str] = ()) -> tuple[str, tuple[str, ...]]:
    """The code with the conclusions that follow from its tests, and the notes."""
    found = as_meant(code, prompt=prompt, defined=defined)
    return found.code, found.notes


@pytest.mark.parametrize(
    ("code", "corrected"),
    [
        ('print("normal" if p < 0.05 else "not normal")', 'print("normal" if p >= 0.05 else "not normal")'),
        ('v = "Non-normal" if p > alpha else "Normal"', 'v = "Non-normal" if p <= alpha else "Normal"'),
        ('print(p < 0.05 and "normal" or "not normal")', 'print(p >= 0.05 and "normal" or "not normal")'),
        ("is_normal = p <= 0.05", "is_normal = p > 0.05"),
        ('is_normal = "yes" if p < 0.05 else "no"', 'is_normal = "yes" if p >= 0.05 else "no"'),
        ('print(f"is normal: {p < 0.05}")', 'print(f"is normal: {p >= 0.05}")'),
        (
            'if p < 0.05:\n    v = "normal"\nelse:\n    v = "not normal"',
            'if p >= 0.05:\n    v = "normal"\nelse:\n    v = "not normal"',
        ),
    ],
)
def test_a_verdict_on_normality_that_is_turned_round_is_turned_back(code: str, corrected: str) -> None:
    found, [note] = concluded(SHAPIRO + code, "", ())
    assert found == SHAPIRO + corrected
    assert note.endswith("after shapiro")


@pytest.mark.parametrize(
    "code",
    [
        'v = "normal" if p >= 0.05 else "not normal"',
        "is_normal = p > 0.05",
        "not_normal = p < 0.05",
        'v = "small" if p < 0.05 else "large"',
        'v = "normal" if p < 0.05 else "normal, too"',
        "is_normal = q < 0.05",
        "is_normal = abs(skewness) < 0.05",
        'if p < 0.05:\n    v = "not normal"\nelse:\n    v = "normal"',
        'print(f"Not normal: {p < 0.05}")',
        'print(f"Reject normality: {p < 0.05}")',
        'print(f"Reject H0 that the data are normal: {p < 0.05}")',
        'print(f"Departs from normality: {p < 0.05}")',
        "print(f\"Reject the hypothesis of normality? {'Yes' if p < 0.05 else 'No'}\")",
        "normality_violated = p < 0.05",
        "is_nonnormal = p < 0.05",
        "notNormal = p < 0.05",
        "deviates_from_normal = p < 0.05",
        'if p > 0.05:\n    print("No deviation from normality")\nelse:\n    print("Deviation from normality")',
        'print("no evidence against normality" if p > 0.05 else "evidence against normality")',
        'action = "transform towards normality" if p < 0.05 else "no transform, already normal"',
        "p = 1 - p\nis_normal = p < 0.95",
    ],
)
def test_a_verdict_that_is_right_or_of_something_else_stays(code: str) -> None:
    assert concluded(SHAPIRO + code, "", ()) == (SHAPIRO + code, ())


def test_significant_is_where_the_p_value_is_small_and_normal_says_nothing_after_a_test_of_means() -> None:
    test = "t, p = stats.ttest_ind(a, b)\n"
    assert concluded(f'{test}v = "significant" if p > 0.05 else "not significant"', "", ())[0].endswith(
        'v = "significant" if p <= 0.05 else "not significant"'
    )
    for code in (
        "normal = p < 0.05",
        'v = "significant" if p < 0.05 else "no significant difference"',
        'print(f"No significant difference: {p > 0.05}")',
        'print(f"Fail to reject: {p > 0.05}")',
        "nonsignificant = p > 0.05",
        "indifferent = p > 0.05",
        'print("The difference is not due to chance" if p < 0.05 else "The difference may be due to chance")',
    ):
        assert concluded(test + code, "", ()) == (test + code, ())


@pytest.mark.parametrize(
    ("prompt", "verdict"),
    [
        ("Is it normal?", "p >= 0.05"),
        ('Say "yes" if it is normal, else "no", at a level of 0.01.', "'no' if p < 0.01 else 'yes'"),
        ("Is it normal (Yes/No)?", "'No' if p < 0.05 else 'Yes'"),
        ('Answer "Gaussian" or "not Gaussian".', "'not Gaussian' if p < 0.05 else 'Gaussian'"),
    ],
)
def test_a_statistic_under_the_name_of_a_verdict_gives_way_to_the_verdict_in_the_words_of_the_prompt(
    prompt: str, verdict: str
) -> None:
    found, [note] = concluded("is_normal, p = stats.shapiro(x)\nprint(is_normal, p)", prompt, ())
    assert found == f"statistic, p = stats.shapiro(x)\nis_normal = {verdict}\nprint(is_normal, p)"
    assert verdict in note


def test_a_verdict_that_was_never_computed_is_written_behind_its_test() -> None:
    code = "if len(x):\n    r = stats.mannwhitneyu(a, b)\n    print(f'significant: {is_significant}')"
    found, notes = concluded(code, "", ())
    assert found == code.replace("b)\n", "b)\n    is_significant = r.pvalue < 0.05\n")
    assert notes == ("added: is_significant = r.pvalue < 0.05",)
    assert concluded(code, "", {"is_significant"}) == (code, ())
    alpha = "alpha = 0.1\nr = stats.mannwhitneyu(a, b)\nprint(is_significant)"
    assert "is_significant = r.pvalue < alpha\n" in concluded(alpha, "", ())[0]


@pytest.mark.parametrize(
    "code",
    [
        "is_normal, p = shapiro(x)\nis_normal = p > 0.05\nprint(is_normal)",
        "is_normal, p = shapiro(x)\nprint(f'{is_normal:.3f}')",
        "normality_statistic, p = shapiro(x)\nprint(normality_statistic)",
        "is_normal, p = shapiro(x)\nprint(p)",
        "is_significant, p = split(x)\nprint(is_significant)",
        "t, p = ttest_ind(a, b)\nprint(difference, significance_level, normal_values)",
        "t, p = ttest_ind(a, b)\nu, q = ttest_ind(a, c)\nprint(is_significant)",
        "w, p = shapiro(x)\nprint(is_equal)",
        "w_normal, p_normal = shapiro(x)\nprint('W:', w_normal, p_normal)",
        "normal_W, p = shapiro(x)\nprint(round(normal_W, 4))",
        "normality, p = shapiro(x)\nprint(normality, p)",
        "from numpy.random import *\nw, p = shapiro(normal(0, 1, 100))",
        "w, p = shapiro(normal(0, 1, 100))",
        "x = 1; is_normal, p = shapiro(x)\nprint(is_normal)",
    ],
)
def test_where_the_verdict_does_not_follow_nothing_is_added(code: str) -> None:
    assert concluded(code, "Is it normal?", ()) == (code, ())


def test_a_corrected_verdict_stands_in_the_notes_of_the_code() -> None:
    code = "from scipy import stats\nw, p = stats.shapiro(df['x'])\nis_normal = p < 0.05\nis_normal"
    prepared = correct(code, copied=["df"], prompt="Is x normal?")
    assert "is_normal = p >= 0.05" in prepared.code
    assert prepared.notes == ("'is_normal' is p >= 0.05 after shapiro",)


def test_a_name_that_is_used_as_a_condition_becomes_no_word() -> None:
    prompt = "Is the difference significant? Answer yes or no."
    code = "t, p = ttest_ind(a, b)\nif is_significant:\n    print('Yes')\nelse:\n    print('No')"
    assert "is_significant = p < 0.05\n" in concluded(code, prompt, ())[0]


def test_a_verdict_stands_where_its_test_stands_and_uses_what_is_bound_before() -> None:
    code = "def check(x):\n\tis_normal, p = shapiro(x)\n\talpha = 0.1\n\treturn is_normal, alpha"
    assert "\n\tis_normal = p >= 0.05\n" in concluded(code, "", ())[0]
    dropped = "Drop the rows below the 0.01 quantile, then test for normality."
    assert "is_normal = p >= 0.05" in concluded("is_normal, p = shapiro(x)\nprint(is_normal)", dropped, ())[0]


def test_long_programs_take_no_time() -> None:
    started = time.monotonic()
    concluded(SHAPIRO + "q = p < 1\n" * 7000, "", ())
    concluded(f"{SHAPIRO}f'{'a' * 20_000}!b{{p < 1}}'", "", ())
    assert time.monotonic() - started < 5
