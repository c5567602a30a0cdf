"""Results of statistical functions under the wrong name: the code runs, and the answer is wrong.

Corrected before the code runs, where the name says what was meant: a SciPy test gives the statistic first and the p
value second; ``Series.corr`` gives no p value at all; ``mean_squared_error`` is not yet the root; a test of
independence takes counts; tests of several groups take each by itself; ``zscore`` is to leave missing values out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jupyter_codeagent.agent.source import Edit, add_argument, apply_edits, called_name, parse, span, text_of

TESTS = frozenset({
    "ttest_ind", "ttest_rel", "ttest_1samp", "ks_2samp", "kstest", "ks_1samp", "shapiro", "normaltest",
    "mannwhitneyu", "wilcoxon", "kruskal", "f_oneway", "pearsonr", "spearmanr", "kendalltau", "levene",
    "bartlett", "jarque_bera", "chisquare", "skewtest", "kurtosistest",
})  # fmt: skip
"""Functions of `scipy.stats` whose result unpacks into statistic and p value."""
TESTS_OF_GROUPS = frozenset({"f_oneway", "kruskal", "levene", "bartlett", "friedmanchisquare", "fligner"})
_P_VALUE = re.compile(r"^p$|^p_?val|pvalue|p_value|_p$", re.IGNORECASE)
_JUDGEMENT = re.compile(
    r"^(?:is|has|are)(?:_|(?-i:[A-Z]))|signific|normal|reject|decision|conclusion|differen", re.IGNORECASE
)
_POPULATION = re.compile(r"\bpopulation(?:'s)? (?:standard deviations?|std|variances?)\b", re.IGNORECASE)
_SAMPLE = re.compile(r"\bsample (?:standard deviations?|std|variances?)\b", re.IGNORECASE)
_NO_DDOF = re.compile(r"population|\bewm\(|^(?=[^\n]*\bstats\.\w+\()[^\n]*\)[ \t]*$", re.IGNORECASE | re.MULTILINE)
"""A column of people, and what takes no `ddof`: weighted windows, distributions of SciPy."""
_ROOT = re.compile(r"(?:^|_)rmse", re.IGNORECASE)


def correct_statistics(tree: ast.Module, code: str) -> list[tuple[Edit, str]]:
    """Edits of `code`, each with its note."""
    rules = (_swapped, _without_root, _p_value_of_correlation, _uncounted, _groups_in_one, _scores_of_missing)
    found = [one for rule in rules for one in rule(tree, code)]
    return sorted(found, key=lambda one: one[0].start)


def of_population(code: str, prompt: str) -> tuple[str, tuple[str, ...]]:
    """With the standard deviation of the population where the prompt wants that one: pandas gives the sample's.

    The code and its notes.
    """
    tree = parse(code)
    if tree is None or not _POPULATION.search(prompt) or _SAMPLE.search(prompt) or _NO_DDOF.search(code):
        return code, ()
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("std", "var")
        and called_name(node)[0] not in ("np", "numpy")
        and not node.args
        and not any(word.arg in ("ddof", None) for word in node.keywords)
    ]
    edits = [add_argument(code, call, "ddof=0") for call in calls]
    return apply_edits(code, edits), ("ddof=0: that of the population, as asked",) if edits else ()


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


def statistic_as_judgement(code: str) -> str:
    """``is_normal, p = shapiro(…)``: what to do where a statistic stands under the name of a judgement; else empty.

    What follows from the p value is not certain, so that this is told and not corrected.
    """
    tree = parse(code)
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=[ast.Name(id=first), ast.Name()])], value=ast.Call() as call
            ) if called_name(call)[1] in TESTS and _JUDGEMENT.search(first):
                return f"{first} is the test statistic, not the judgement. Set it afterwards, from the p value."
    return ""


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


def _p_value_of_correlation(tree: ast.Module, code: str) -> Iterator[tuple[Edit, str]]:
    """``p_value = x.corr(y)`` and ``x.corr(y).pvalue``: the correlation is under the name of its p value."""
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
            yield Edit(start=start, end=end, text=f"{test}.pvalue"), "corr gives no p value; scipy.stats does"


def _uncounted(tree: ast.Module, code: str) -> Iterator[tuple[Edit, str]]:
    """``chi2_contingency(df[["a", "b"]])``: the test takes counts, not the rows that are to be counted."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                args=[
                    ast.Subscript(
                        value=ast.Name(id=frame),
                        slice=ast.List(elts=[ast.Constant(value=str(first)), ast.Constant(value=str(second))]),
                    ) as rows,
                    *_,
                ]
            ) if called_name(node)[1] == "chi2_contingency":
                start, end = span(code, rows)
                counts = f"pd.crosstab({frame}[{first!r}], {frame}[{second!r}])"
                yield Edit(start=start, end=end, text=counts), "chi2_contingency takes counts: pd.crosstab"


def _groups_in_one(tree: ast.Module, code: str) -> Iterator[tuple[Edit, str]]:
    """``f_oneway([a, b, c])``: the groups are arguments of their own."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(args=[ast.List() | ast.ListComp() | ast.Name() as groups]) if (
                called_name(node)[1] in TESTS_OF_GROUPS
            ):
                start = span(code, groups)[0]
                yield Edit(start=start, end=start, text="*"), f"{called_name(node)[1]} takes each group by itself"


def _scores_of_missing(tree: ast.Module, code: str) -> Iterator[tuple[Edit, str]]:
    """``zscore(x)``: one missing value makes all scores missing, and nothing an outlier."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(args=[values], keywords=keywords) if called_name(node)[1] == "zscore":
                settled = any(word.arg == "nan_policy" for word in keywords)
                if not settled and not re.search(r"(?:drop|fill)na\(", text_of(code, values)):
                    yield add_argument(code, node, "nan_policy='omit'"), "zscore leaves missing values out"


def _correlation_test(call: ast.Call, code: str) -> str | None:
    """The test of ``x.corr(y, method=…)``: over the pairs that are complete, as `corr` itself takes them."""
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


def leave_missing_out(tree: ast.Module, code: str) -> list[tuple[Edit, str]]:
    """For results that are all missing: the tests of SciPy are told to leave missing values out."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or called_name(node)[1] not in TESTS - {"pearsonr", "ks_1samp"}:
            continue
        if not any(keyword.arg in ("nan_policy", None) for keyword in node.keywords):
            note = f"{called_name(node)[1]} leaves missing values out"
            found.append((add_argument(code, node, "nan_policy='omit'"), note))
    return found


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
