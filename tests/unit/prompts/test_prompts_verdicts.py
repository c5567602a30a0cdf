"""A verdict follows from the p value, in the words that were asked for; else nothing is changed."""

from __future__ import annotations

import pytest

from jupyter_codeagent.prompts.rewrite import prepare
from jupyter_codeagent.prompts.verdicts import say_verdicts

SHAPIRO = "w, p = stats.shapiro(x)\n"


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
    found, [note] = say_verdicts(SHAPIRO + code, "", ())
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
    ],
)
def test_a_verdict_that_is_right_or_of_something_else_stays(code: str) -> None:
    assert say_verdicts(SHAPIRO + code, "", ()) == (SHAPIRO + code, ())


def test_significant_is_where_the_p_value_is_small_and_normal_says_nothing_after_a_test_of_means() -> None:
    test = "t, p = stats.ttest_ind(a, b)\n"
    assert say_verdicts(f'{test}v = "significant" if p > 0.05 else "not significant"', "", ())[0].endswith(
        'v = "significant" if p <= 0.05 else "not significant"'
    )
    for code in ("normal = p < 0.05", 'v = "significant" if p < 0.05 else "no significant difference"'):
        assert say_verdicts(test + code, "", ()) == (test + code, ())


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
    found, [note] = say_verdicts("is_normal, p = stats.shapiro(x)\nprint(is_normal, p)", prompt, ())
    assert found == f"statistic, p = stats.shapiro(x)\nis_normal = {verdict}\nprint(is_normal, p)"
    assert verdict in note


def test_a_verdict_that_was_never_computed_is_written_behind_its_test() -> None:
    code = "if len(x):\n    r = stats.mannwhitneyu(a, b)\n    print(f'significant: {is_significant}')"
    found, notes = say_verdicts(code, "", ())
    assert found == code.replace("b)\n", "b)\n    is_significant = r.pvalue < 0.05\n")
    assert notes == ("added: is_significant = r.pvalue < 0.05",)
    assert say_verdicts(code, "", {"is_significant"}) == (code, ())
    alpha = "alpha = 0.1\nr = stats.mannwhitneyu(a, b)\nprint(is_significant)"
    assert "is_significant = r.pvalue < alpha\n" in say_verdicts(alpha, "", ())[0]


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
    ],
)
def test_where_the_verdict_does_not_follow_nothing_is_added(code: str) -> None:
    assert say_verdicts(code, "Is it normal?", ()) == (code, ())


def test_a_corrected_verdict_stands_in_the_notes_of_the_code() -> None:
    code = "from scipy import stats\nw, p = stats.shapiro(df['x'])\nis_normal = p < 0.05\nis_normal"
    prepared = prepare(code, copied=["df"], prompt="Is x normal?")
    assert "is_normal = p >= 0.05" in prepared.code
    assert prepared.notes == ("'is_normal' is p >= 0.05 after shapiro",)
