"""What a question says and its program does not heed: the figure that is asked for, a column or a table by name.

A program may run well and answer another question. Nothing that was counted shows it, but sometimes the words do:
who asks for a median wants one to be computed. Pure functions of the words; docs/evals.md says how often each is
right.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.agent.prompt.sentences import SENTENCE_END
from jupyter_codeagent.agent.source import parse
from jupyter_codeagent.types.variables import LiveNames
from jupyter_codeagent.variables.mentions import MIN_LABEL_CHARS, stemmed


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Words that ask for a figure, and what a program that computes it contains."""

    asked: re.Pattern[str]
    computed: re.Pattern[str]


def _figure(asked: str, computed: str) -> Figure:
    return Figure(asked=re.compile(rf"\b(?:{asked})\b"), computed=re.compile(computed, re.IGNORECASE))


_ORDER = "sort|top|bottom|describe|value_counts|rank|mode|quantile|order by"
FIGURES = (
    _figure("medians?", "median|quantile|percentile|describe|box|violin"),
    _figure("mean|averages?|avg", "mean|average|avg|describe|/|box|ttest|f_oneway|fit|tukey|ols"),
    _figure(
        r"shares?|(?<!\d )percent|percentages?|proportions?|fractions?",
        "/|mean|normalize|pct|div|rate|100|corr|quantile",
    ),
    _figure("totals?|sum", "sum|size|count|len|shape|describe|total|margins|/|mean"),
    _figure("distinct|unique", r"unique|drop_duplicates|\bset\b|group|value_counts|duplicated|distinct"),
    _figure("standard deviations?", "std|var|describe|zscore|stdev"),
    _figure(r"correlat\w+", "corr|pearson|spearman|kendall|linregress|cov"),
    _figure("Spearman|spearman", "spearman|rank"),
    _figure("rolling|moving", "roll|ewm|convolve"),
    _figure("cumulative|running total", "cum|accumulate|expanding"),
    _figure("percentiles?|quartiles?|quantiles?|interquartile|IQR", "quantile|percentile|describe|qcut|iqr|box"),
    _figure(
        "highest|largest|biggest|longest|maximum|oldest|heaviest|latest|greatest", f"max|largest|last|{_ORDER}"
    ),
    _figure("lowest|smallest|shortest|minimum|fewest|youngest|earliest|lightest", f"min|smallest|first|{_ORDER}"),
    _figure("most|least", f"max|largest|min|smallest|first|last|{_ORDER}"),
    _figure(r"t[- ]test|Welch", "ttest|t_test"),
    _figure(r"[Cc]hi[- ]?squared?", "chi2|chisquare"),
    _figure("ANOVA", "f_oneway|anova"),
    _figure("Mann[- ]Whitney", "mannwhitney"),
    _figure("Kruskal", "kruskal"),
)
"""Calls are found by parts of their names: ``median`` is in ``nanmedian`` and in ``agg({"price": "median"})``."""
_EXAMPLE = re.compile(r"\b(?:such as|like|e\.g\.|for example|written|spel\w+|text|forms?)\b", re.IGNORECASE)
"""A sentence with such a word describes the data."""
_QUOTED = re.compile(
    r"[`\"'][^`\"'\n]{1,40}[`\"']|\([^()]{0,200}\)|\bat (?:most|least)\b|\b(?:most|least) recent\b"
)
"""Words that ask for no figure."""
_CODE = re.compile(r"^[a-z0-9_.%]+$|\w\(| / |\bselect\b", re.IGNORECASE)
"""A method (``median``), an expression, or a query: no words for people."""
_IN_BACKTICKS = re.compile(r"`([^`\n]{1,40})`")
_TIMES = frozenset({"date", "day", "hour", "month", "quarter", "time", "week", "year"})
"""Units of time: a column with such a name has rivals in every date."""


def unheeded(prompt: str, code: str, live: LiveNames, turns: Sequence[Turn] = ()) -> Iterator[str]:
    """Yield a reason to look for each word of the prompt that the program passes over.

    `turns` are the earlier answers of the conversation: what one of them did, this program need not do again.
    """
    tree = parse(code)
    if tree is None:
        return
    earlier = [known for turn in turns if (known := parse(turn.ran or turn.code)) is not None]
    code_words = _words(tree)
    written = " ".join((code_words, *map(_words, earlier)))
    computing = " ".join(_words(one, without_labels=live.columns) for one in (tree, *earlier))
    told = " ".join(sentence for sentence in SENTENCE_END.split(prompt) if not _EXAMPLE.search(sentence))
    bare, stems = _QUOTED.sub(" ", told), stemmed(told)
    for figure in FIGURES:
        asked = figure.asked.search(bare)
        if asked is not None and figure.computed.search(computing) is None:
            yield f'the question says "{asked[0]}", and the code computes nothing of the kind'
    for name in sorted(_named(told, live.data, "\n".join(turn.prompt for turn in turns))):
        if not _has_word(code_words, name):
            yield f"the question names {name}, and the code does not use it"
    for label in sorted(label for label in live.columns if not _has_word(written, label)):
        if _is_by_name(told, label) and label not in live.data:
            yield f"the question names {label}, and the code does not use it"
        elif _is_asked_for_each(stems, label) and stemmed(label) not in stemmed(written):
            yield f"the question asks for each {label}, and the code does not use that column"


def _words(tree: ast.Module, *, without_labels: Collection[str] | None = None) -> str:
    """Return the names and constants of a program, and its divisions: no comments, which repeat the question.

    `without_labels`: without texts that name no column, are no code and no query, as the title *Total amount*.
    """
    words = []
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.keyword(arg=str(word)):
                words.append(word)
            case ast.Constant(value=value):
                text = str(value)
                if without_labels is None or text in without_labels or _CODE.search(text) is not None:
                    words.append(text)
            case ast.Div():
                words.append("/")
    return " ".join(words)


def _named(text: str, variables: Collection[str], earlier: str) -> Iterator[str]:
    """Yield the variables that the text has as names, not as words: ``long_trips``, or one known in backticks."""
    known = set(_IN_BACKTICKS.findall(earlier))
    for name in variables:
        if _is_by_name(text, name) or (name in known and _has_word(text, name)):
            yield name


def _is_by_name(text: str, name: str) -> bool:
    """Check whether the text has a name as code has it: in backticks, alone in brackets, or with an underscore."""
    return f"`{name}`" in text or f"({name})" in text or ("_" in name and _has_word(text, name))


def _is_asked_for_each(stems: str, label: str) -> bool:
    stem = stemmed(label)
    if len(stem.strip()) < MIN_LABEL_CHARS or stem.strip() in _TIMES:
        return False
    return any(f" {word}{stem}" in stems for word in ("per", "each", "every", "by", "which"))


def _has_word(text: str, word: str) -> bool:
    return word in text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
