"""Names in a sentence that are nowhere in the result: countries that a model imagines behind row numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAME = re.compile(r"(?<![\w'’@#/.-])[A-Z][a-z]+(?:[A-Z][a-z]+)*(?:[ -][A-Z][a-z]+)*(?![\w])")
_BEGINS = re.compile(r"(?:^|[.!?:;]\s+)$")
_NOT_ENGLISH = re.compile(r"\b(?:der|das|ist|sind|und|für|von|les|une|est|sont|los|las|het|een|zijn)\b")
"""Languages that capitalize nouns, or whose names are unknown here: nothing is judged."""
_WORD = re.compile(r"[^\W\d_]+")
_KNOWN = frozenset(
    _WORD.findall("""
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    spring summer autumn fall winter north south east west
    pearson spearman kendall welch student shapiro wilk kolmogorov smirnov anderson darling mann whitney wilcoxon
    kruskal wallis levene bartlett fisher tukey friedman bonferroni holm gaussian poisson bernoulli bayes euclidean
    cohen cronbach durbin watson dickey fuller ljung box cox breusch pagan granger ridge lasso random forest
    dataframe data frame series table index python pandas polars numpy none true false not yes no the this that
    these those there it they in of for and on by to with at from all both each
    """)
)
"""In lower case: names that a sentence about numbers may use by itself; months and days stand for numbers."""


def unknown_names(sentence: str, known: str) -> tuple[str, ...]:
    """Return the proper names in a sentence of which no word is in `known` (outputs, question, code), in order.

    A proper name is capitalized and not the first word of a sentence.
    """
    if _NOT_ENGLISH.search(sentence):
        return ()
    words = {word.lower() for word in _WORD.findall(known)} | _KNOWN
    return tuple(dict.fromkeys(name for name in _names(sentence) if not words.intersection(_stems(name))))


def _names(sentence: str) -> Iterator[str]:
    for match in _NAME.finditer(sentence):
        name = match[0]
        if _BEGINS.search(sentence[: match.start()]):
            name = name.partition(" ")[2]  # the first word is always capitalized
        if name:
            yield name


def _stems(name: str) -> set[str]:
    words = {word.lower() for word in _WORD.findall(name)}
    return words | {word.removesuffix("s") for word in words} | {f"{word}s" for word in words}
