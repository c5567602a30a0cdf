"""Printed figures that cannot be: a p-value above one, a correlation below minus one, a share of 140 %.

Read from lines of one label and one figure only, and only where the label names the quantity itself: not a change
of it, not a count of things that have it, not a limit for it. A rate, growth or percent change may be anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from jupyter_codeagent.agent.rules.rule import Program, from_text

_LINE = re.compile(
    r"^[ \t\-*•]*+(?P<label>[^:=\n]{1,100}?)[ \t]*+(?::|=|\bis\b)[ \t]*+"
    r"(?P<figure>[-+]?\d[\d,]*+(?:\.\d++)?(?:[eE][-+]?\d++)?)[ \t]*+(?P<percent>%?)[ \t]*+\.?[ \t]*+$",
    re.MULTILINE,
)
_PARENTHESES = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_FOLLOWS = re.compile(r"(?:of|between|for|in|among|across|who|that|over|with|from)\b")
_OTHER_BEFORE = re.compile(
    r"\b(?:with|of|at|for|by|in|on|where|having|per|as|from|to|than|and|or|vs|count|number|log|log10|ln|neg|negative|minus|"
    r"change|difference|diff|delta|gain|improvement|increase|decrease|reduction|bonferroni|corrected|adjusted|lag|rank)\b"
)
_MORE_THAN_WHOLE = re.compile(
    r"\b(?:change|growth|increase|decrease|difference|deviation|error|gain|loss|losses|profits?|margin|net|return|returns|"
    r"contribution|income|gdp|target|plan|budget|goal|baseline|base|previous|prior|last|original|initial|capacity|"
    r"expected|forecast|average|mean|median|max|maximum|cost|price)\b"
)
"""Words with which a share may be negative or above 100 %."""
MAX_WORDS_BEFORE = 4
ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class _Quantity:
    name: str
    """With its article, as the model is told of it."""
    label: re.Pattern[str]
    low: float
    high: float
    limits: str
    """In words: figures of data are left out of what is told where the data may not be."""
    part_of_whole: bool = False
    """May be printed in percent, with the sign or without."""


def _label(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])")


_INFINITE = float("inf")
_QUANTITIES = (
    _Quantity(name="A p-value", label=_label(r"p[- ]?value"), low=0, high=1, limits="lies between zero and one"),
    _Quantity(
        name="A correlation",
        label=_label(r"(?:auto)?correlation(?: coefficient)?|(?:pearson|spearman|kendall)(?:'s)? (?:r|rho|tau)"),
        low=-1,
        high=1,
        limits="lies between minus one and one",
    ),
    _Quantity(
        name="An R²",
        label=_label(r"r²|r\^2|r2(?: score)?|r[- ]squared|coefficient of determination"),
        low=-_INFINITE,
        high=1,
        limits="is one at the most",
    ),
    _Quantity(
        name="An error measure or standard deviation",
        label=_label(
            r"rmse|mse|mae|root mean squared? error|mean (?:absolute|squared?) error|standard deviation|std"
        ),
        low=0,
        high=_INFINITE,
        limits="is never negative",
    ),
    _Quantity(
        name="A share",
        label=_label(r"share|proportion|fraction|probability|percentage(?= of\b)|percent(?= of\b)"),
        low=0,
        high=100,
        limits="lies between zero and a hundred percent",
        part_of_whole=True,
    ),
)


@from_text
def impossible_number(program: Program) -> str:
    """Report the first number that its quantity cannot have."""
    for match in _LINE.finditer(program.output):
        value = float(match["figure"].replace(",", ""))
        # Without its decimals it may be a count, and in percent its limits are others.
        is_measured = "." in match["figure"] or "e" in match["figure"].lower()
        label = " ".join(_PARENTHESES.sub(" ", match["label"]).replace("_", " ").lower().split())
        for quantity in _QUANTITIES:
            if quantity.low - ROUNDING <= value <= quantity.high + ROUNDING or not _names(label, quantity):
                continue
            in_percent = bool(match["percent"]) or "%" in match["label"]
            if (is_measured or in_percent) if quantity.part_of_whole else (is_measured and not in_percent):
                figure = match["figure"] + match["percent"]
                return f"{quantity.name} of {figure} was printed, but it {quantity.limits}. Check the calculation."
    return ""


def _names(label: str, quantity: _Quantity) -> bool:
    """Whether the label names it: ``Highest correlation between a and b``, not ``Lag of the correlation``."""
    match = quantity.label.search(label)
    if match is None or (quantity.part_of_whole and _MORE_THAN_WHOLE.search(label)):
        return False
    before, after = label[: match.start()], label[match.end() :].strip(" ,;-")
    if _OTHER_BEFORE.search(before) or len(before.split()) > MAX_WORDS_BEFORE:
        return False
    return not after or _FOLLOWS.match(after) is not None
