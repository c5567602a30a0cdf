"""Results of statistical functions under the wrong name: the code runs, and the answer is wrong.

Corrected before the code runs, where the name says what was meant: a SciPy test gives the statistic first and the p
value second; ``mean_squared_error`` is not yet the root.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jupyter_codeagent.prompts.source import Edit, called_name, span

TESTS = frozenset({
    "ttest_ind", "ttest_rel", "ttest_1samp", "ks_2samp", "kstest", "ks_1samp", "shapiro", "normaltest",
    "mannwhitneyu", "wilcoxon", "kruskal", "f_oneway", "pearsonr", "spearmanr", "kendalltau", "levene",
    "bartlett", "jarque_bera", "chisquare", "skewtest", "kurtosistest",
})  # fmt: skip
"""Functions of `scipy.stats` whose result unpacks into statistic and p value."""
_P_VALUE = re.compile(r"^p$|^p_?val|pvalue|p_value|_p$", re.IGNORECASE)
_ROOT = re.compile(r"(?:^|_)rmse", re.IGNORECASE)


def correct_statistics(tree: ast.Module, code: str) -> list[tuple[Edit, str]]:
    """Edits of `code`, each with its note."""
    found = [*_swapped(tree, code), *_without_root(tree, code)]
    return sorted(found, key=lambda one: one[0].start)


def _swapped(tree: ast.Module, code: str) -> Iterator[tuple[Edit, str]]:
    """``p_value, _ = ks_2samp(…)``: the names change places."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]) as target],
                value=ast.Call() as call,
            ) if called_name(call)[1] in TESTS and _P_VALUE.search(first) and not _P_VALUE.search(second):
                start, end = span(code, target)
                inside = f"{second}, {first}"
                text = f"({inside})" if code[start] == "(" else inside
                note = f"{called_name(call)[1]} gives the p value second: {inside}"
                yield Edit(start=start, end=end, text=text), note


def _without_root(tree: ast.Module, code: str) -> Iterator[tuple[Edit, str]]:
    """``rmse = mean_squared_error(…)`` where nothing takes the root of it afterwards."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if (
                called_name(call)[1] == "mean_squared_error" and _ROOT.search(name) and not _root_of(tree, name)
            ):
                if any(keyword.arg == "squared" for keyword in call.keywords):
                    continue
                _, end = span(code, call)
                yield Edit(start=end, end=end, text=" ** 0.5"), f"{name} is the root of mean_squared_error"


def _root_of(tree: ast.Module, name: str) -> bool:
    """Whether the code takes a root of the variable itself."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(args=[ast.Name(id=found), *_]) if found == name and called_name(node)[1] in (
                "sqrt",
                "pow",
            ):
                return True
            case ast.BinOp(left=ast.Name(id=found), op=ast.Pow()) if found == name:
                return True
    return False
