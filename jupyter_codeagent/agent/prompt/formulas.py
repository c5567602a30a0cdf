"""Formulas for terms of data analysis: one line each, in the prompt only if the question names the term.

Small models know the words and get the formula or its pandas wrong. A line costs about 25 tokens, and most
questions need none. The formulas are those of textbooks and of the libraries' own documentation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_TERMS = 3
"""Three times 25 tokens; whether more would help was not measured."""
MAX_PROMPT_CHARS = 4000
"""Limit for the part of a prompt that is read, half at its end: longer prompts contain data."""

_CHANGE = r"(?:change|growth|increase|decrease|decline|difference|rise|fall)"
_EACH = r"(?:within|per|by|for|in|of) (?:each|every)"
_ONE_BY_ONE = r"(?:value|row|record|data|point|observation|entry)"
_GROUPED = rf"\b(?:within|per|of (?:its|their|the same)|(?:each|every)(?! {_ONE_BY_ONE}))\b"
_Z = r"(?:\bstandard deviations?\s+(?:\w+\s+){0,3}(?:from|above|below|than|away)\b|\bz-?scores?\b)"
_LEARNT = r"\b(?:train\w*|test sets?|mean.squared|m?rmse|features|(?:dependent|independent) variables)\b"
_PERIOD = r"(?:day|week|month|quarter|year)"
_GAP = r"[^.?]{0,100}"
"""Between two words of one sentence."""


@dataclass(frozen=True, kw_only=True)
class _Term:
    named: re.Pattern[str]
    computed: str
    defined: re.Pattern[str] | None
    """Words of a question that computes it itself, beside ``term = …``, or that this formula does not fit."""


def _term(named: str, computed: str, *, defined: str = "") -> _Term:
    return _Term(
        named=re.compile(named, re.IGNORECASE),
        computed=computed,
        defined=re.compile(defined, re.IGNORECASE) if defined else None,
    )


_TERMS = (
    # Changes and shares
    _term(
        rf"\bcontribut\w+\b{_GAP}\b{_CHANGE}",
        "contribution to a total change in percent: change / change.sum() * 100",
    ),
    _term(rf"\babsolute\b[^.?]{{0,30}}\b{_CHANGE}", "absolute change: after - before, with its sign, no abs()"),
    _term(
        rf"\b(?:percent\w*|relative|%)\s+{_CHANGE}|\bby (?:how many|what) percent",
        "percent change: (after - before) / before * 100",
    ),
    _term(
        rf"\b(?:against|over|from|than|to) the (?:\w+ )?{_PERIOD} before\b|\b{_PERIOD}.(?:over|on).{_PERIOD}\b",
        'change against the period before: df.groupby("g")["x"].pct_change() * 100 in order of time',
    ),
    _term(r"\bcagr\b|\bcompound annual", "CAGR: (last / first) ** (1 / years) - 1"),
    _term(
        r"\bcumulative (?:share|percent)",
        "cumulative share: s = x.sort_values(ascending=False); s.cumsum() / s.sum()",
    ),
    _term(r"\bweighted (?:average|mean)", "weighted mean: (x * w).sum() / w.sum()"),
    # Outliers and missing values
    _term(
        r"\biqr\b|\binterquartile|\bbox-?\s?plot rule|\btukey'?s? (?:rule|fence)",
        "IQR rule: q1, q3 = x.quantile(0.25), x.quantile(0.75); low = x[x < q1 - 1.5 * (q3 - q1)]; "
        "high = x[x > q3 + 1.5 * (q3 - q1)]",
        defined=r"\bq1\s*[-−–]\s*1\.5",
    ),
    _term(_Z, "z = (x - x.mean()) / x.std()"),
    _term(
        rf"{_Z}{_GAP}{_GROUPED}|{_GROUPED}{_GAP}{_Z}",
        'z in groups: df.groupby("g")["x"].transform(lambda x: (x - x.mean()) / x.std())',
    ),
    _term(
        rf"\bwinsori|\bcap(?:ped|ping)?\b{_GAP}\bpercentile",
        'capping in groups: df.groupby("g")["x"].transform(lambda x: x.clip(x.quantile(0.01), x.quantile(0.99)))',
    ),
    _term(
        rf"\b(?:fill|replac|imput)\w*\b{_GAP}\b(?:missing|nan|null){_GAP}\b(?:median|mean|average)\b{_GAP}"
        r"\b(?:of|per|by|within|same)\b",
        'fill by group: df["x"] = df["x"].fillna(df.groupby("g")["x"].transform("median"))',
    ),
    _term(
        rf"\bmissing from the\b|\bnot in the\b{_GAP}\btable|\bwithout a match|\bdo(?:es)? not (?:appear|occur) in",
        'rows without a match: a[~a["key"].isin(b["key"])]',
    ),
    # Tests
    _term(r"\bwelch", "Welch's t test: stats.ttest_ind(a.dropna(), b.dropna(), equal_var=False)"),
    _term(rf"\bpaired\b{_GAP}\btest", "paired t test: stats.ttest_rel(a, b) on rows without missing values"),
    _term(r"\bmann.?whitney|\brank.?sum", "Mann-Whitney U: stats.mannwhitneyu(a.dropna(), b.dropna())"),
    _term(
        r"\bchi.?squared?\b",
        'chi-square test: stats.chi2_contingency(pd.crosstab(df["a"], df["b"])) gives statistic, p, dof, expected',
    ),
    _term(
        r"\banova\b", 'one-way ANOVA: stats.f_oneway(*[x.dropna() for _, x in df.groupby("g")["x"]]) gives F and p'
    ),
    _term(
        r"\beta.?squared?\b",
        'eta squared: d = df[["g", "x"]].dropna(); m = d.groupby("g")["x"].transform("mean"); '
        '((m - d["x"].mean()) ** 2).sum() / ((d["x"] - d["x"].mean()) ** 2).sum()',
    ),
    _term(r"\bkruskal", 'Kruskal-Wallis: stats.kruskal(*[x.dropna() for _, x in df.groupby("g")["x"]])'),
    _term(r"\bshapiro|\bnormality\b", "Shapiro-Wilk: stats.shapiro(x.dropna()) gives statistic and p"),
    _term(
        r"\bcohen.?s d\b",
        "Cohen's d: (a.mean() - b.mean()) / "
        "(((len(a) - 1) * a.var() + (len(b) - 1) * b.var()) / (len(a) + len(b) - 2)) ** 0.5",
    ),
    _term(r"\bodds.?ratio", "odds ratio: (a * d) / (b * c) of the 2x2 table [[a, b], [c, d]]"),
    _term(
        r"\bconfidence interval", "95 % interval of a mean: stats.t.interval(0.95, len(x) - 1, x.mean(), x.sem())"
    ),
    # Relations
    _term(
        rf"\bcorrelat\w+{_GAP}\b{_EACH}\b|\b{_EACH}\b{_GAP}\bcorrelat",
        'correlation in groups: df.groupby("g")[["a", "b"]].apply(lambda d: d["a"].corr(d["b"]))',
    ),
    _term(
        rf"\bpearson\b{_GAP}\bp\b|\bcorrelat\w+{_GAP}\bp.?value",
        'Pearson r with p: d = df[["a", "b"]].dropna(); stats.pearsonr(d["a"], d["b"])',
    ),
    _term(r"\bspearman", 'Spearman with p: d = df[["a", "b"]].dropna(); stats.spearmanr(d["a"], d["b"])'),
    _term(
        rf"\blinear(?:ly)? regress|\bregress\w*\b{_GAP}\bon\b|\bslope\b",
        "simple regression: fit = stats.linregress(x, y) without missing values; "
        "fit.slope, fit.rvalue ** 2, prediction fit.intercept + fit.slope * x",
        defined=_LEARNT,
    ),
    _term(r"\belasticit", "elasticity: slope of np.log(y) on np.log(x)"),
    _term(r"\broc\b|\bauc\b", "ROC AUC: sklearn.metrics.roc_auc_score(truth, score)"),
    # Time
    _term(
        r"\b(?:moving|rolling|running)\s+(?:average|mean|median|sum)",
        "moving average: x.rolling(n).mean() over rows in order of time",
    ),
    _term(r"\bvolatil", "annualised volatility: x.pct_change().std() * 12 ** 0.5 of months, 252 ** 0.5 of days"),
    _term(r"\bdraw.?down", "maximum drawdown: (x / x.cummax() - 1).min() in order of time"),
    _term(
        r"\bconsecutive\b|\blongest (?:\w+ )?(?:run|streak|spell)\b",
        "runs of a condition: run = (cond != cond.shift()).cumsum(); lengths = cond[cond].groupby(run).size()",
    ),
    _term(r"\bdecades?\b", 'decade: df["year"] // 10 * 10'),
    # Shapes
    _term(
        r"\bquartiles? (?:by|of|groups?)|\b(?:quint|dec)iles?\b|\bequal(?:-|ly )sized\b|\bequal groups",
        "groups of equal size: pd.qcut(x, n)",
    ),
    _term(
        r"\bwide\b|\bone column per\b|\bcolumn for each\b|\brows and (?:the )?\w+ as (?:the )?columns\b",
        'wide: df.pivot(index="row", columns="col", values="x"), of counts pd.crosstab(df["row"], df["col"])',
    ),
    _term(r"\blong (?:table|form|format)\b", 'long: df.melt(id_vars="id", var_name="name", value_name="value")'),
    _term(
        r"\bhaversine|\bgreat.?circle",
        "haversine: 2 * R * np.arcsin(np.sqrt(np.sin(dlat / 2) ** 2 + "
        "np.cos(lat1) * np.cos(lat2) * np.sin(dlon / 2) ** 2)), all in radians",
    ),
)


_DEFINED = re.compile(
    r"['\"`’]?\s*(?:=|(?:that |which )?(?:is|are) (?:calculated|computed|defined))", re.IGNORECASE
)


def formulas_for(prompt: str) -> tuple[str, ...]:
    """Return formulas for the terms that the prompt names, in its order, at most `MAX_TERMS`.

    Where the prompt defines a term, its definition holds: ``Volatility = (High - Low) / Open``.
    """
    if len(prompt) > MAX_PROMPT_CHARS:
        half = MAX_PROMPT_CHARS // 2
        prompt = f"{prompt[:half]}\n{prompt[-half:]}"
    found = [
        (match.start(), term.computed)
        for term in _TERMS
        if (match := term.named.search(prompt)) is not None and not _is_defined(prompt, term, match.group())
    ]
    return tuple(computed for _, computed in sorted(found)[:MAX_TERMS])


def _is_defined(prompt: str, term: _Term, named: str) -> bool:
    """Check whether the prompt defines the term itself, or a word of it that begins as `named`."""
    if term.defined is not None and term.defined.search(prompt) is not None:
        return True
    words = re.finditer(rf"{re.escape(named)}\w*", prompt, re.IGNORECASE)
    return any(_DEFINED.match(prompt, word.end()) for word in words)
