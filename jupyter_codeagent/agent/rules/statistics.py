"""Results of statistical functions under the wrong name: the code runs, and the answer is wrong.

Each is corrected before the code runs, where the name says what was meant: a SciPy test returns the statistic first
and the p value second; ``Series.corr`` returns no p value at all; ``zscore`` should leave missing values out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jupyter_codeagent.agent.rules.rule import Program, from_edits
from jupyter_codeagent.agent.source import Edit, add_argument, called_name, span, text_of

TESTS = frozenset({
    "ttest_ind", "ttest_rel", "ttest_1samp", "ks_2samp", "kstest", "ks_1samp", "shapiro", "normaltest",
    "mannwhitneyu", "wilcoxon", "kruskal", "f_oneway", "pearsonr", "spearmanr", "kendalltau", "levene",
    "bartlett", "jarque_bera", "chisquare", "skewtest", "kurtosistest",
})  # fmt: skip
"""Functions of `scipy.stats` whose result unpacks into statistic and p value."""
_P_VALUE = re.compile(r"^p$|^p_?val|pvalue|p_value", re.IGNORECASE)
_POPULATION = re.compile(r"\bpopulation(?:'s)? (?:standard deviations?|std|variances?)\b", re.IGNORECASE)
_SAMPLE = re.compile(r"\bsample (?:standard deviations?|std|variances?)\b", re.IGNORECASE)
_NO_DDOF = re.compile(r"population|\bewm\(|^(?=[^\n]*\bstats\.\w+\()[^\n]*\)[ \t]*$", re.IGNORECASE | re.MULTILINE)
"""A column of people, and what takes no `ddof`: weighted windows, distributions of SciPy."""


@from_edits
def population_deviation(program: Program) -> Iterator[tuple[Edit, str]]:
    """Pass ``ddof=0`` where the prompt wants that of the population: pandas gives the sample's."""
    code, prompt = program.code, program.prompt
    if not _POPULATION.search(prompt) or _SAMPLE.search(prompt) or _NO_DDOF.search(code):
        return
    for node in ast.walk(program.tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("std", "var")
            and called_name(node)[0] not in ("np", "numpy")
            and not node.args
            and not any(word.arg in ("ddof", None) for word in node.keywords)
        ):
            yield add_argument(code, node, "ddof=0"), "ddof=0: standard deviation of the population, as asked"


@from_edits
def p_value_second(program: Program) -> Iterator[tuple[Edit, str]]:
    """Exchange the names in ``p_value, _ = ks_2samp(…)``."""
    tree, code = program.tree, program.code
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]) as target],
                value=ast.Call() as call,
            ) if called_name(call)[1] in TESTS and _P_VALUE.search(first) and not _P_VALUE.search(second):
                start, end = span(code, target)
                inside = f"{second}, {first}"
                text = f"({inside})" if code[start] == "(" else inside
                note = f"{called_name(call)[1]} returns the p value second: {inside}"
                yield Edit(start=start, end=end, text=text), note


@from_edits
def p_value_of_correlation(program: Program) -> Iterator[tuple[Edit, str]]:
    """Compute the p value where ``p_value = x.corr(y)`` or ``x.corr(y).pvalue`` takes the correlation for it."""
    tree, code = program.tree, program.code
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Call() as call, attr="pvalue" | "p_value"):
                meant: ast.expr = node
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if _P_VALUE.search(name):
                meant = call
            case _:
                continue
        if (test := _correlation_test(call, code)) is not None:
            start, end = span(code, meant)
            yield Edit(start=start, end=end, text=f"{test}.pvalue"), "`corr()` returns no p value; used scipy.stats"


@from_edits
def zscore_without_missing(program: Program) -> Iterator[tuple[Edit, str]]:
    """Leave missing values out of ``zscore(x)``: one of them makes all scores missing, and nothing an outlier.

    Not of a function that the program writes itself.
    """
    tree, code = program.tree, program.code
    if any(isinstance(node, ast.FunctionDef) and node.name == "zscore" for node in ast.walk(tree)):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Call(args=[values], keywords=keywords) if called_name(node)[1] == "zscore":
                settled = any(word.arg == "nan_policy" for word in keywords)
                if not settled and not re.search(r"(?:drop|fill)na\(", text_of(code, values)):
                    yield add_argument(code, node, "nan_policy='omit'"), "`zscore()` now ignores missing values"


def _correlation_test(call: ast.Call, code: str) -> str | None:
    """Return the test for ``x.corr(y, method=…)``, over the complete pairs, as `corr` itself takes them."""
    match call:
        case ast.Call(func=ast.Attribute(value=first, attr="corr"), args=[second, *more], keywords=keywords):
            method: ast.expr | None = more[0] if more else None
            for keyword in keywords:
                method = keyword.value if keyword.arg == "method" else method
            name = method.value if isinstance(method, ast.Constant) else "pearson" if method is None else None
            x, y = text_of(code, first), text_of(code, second)
            if name == "pearson":
                return f"stats.linregress({x}, {y}, nan_policy='omit')"
            if name in ("spearman", "kendall"):
                test = "spearmanr" if name == "spearman" else "kendalltau"
                return f"stats.{test}({x}, {y}, nan_policy='omit')"
    return None
