"""Texts that stand for numbers or dates."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np

from .search import Search
from .table import Table

NUMBER = re.compile(
    r"[-+]?\s*+(?:[$€£¥]\s*+)?[-+]?(\d{1,3}([ ,.']\d{3})+|\d+)?([.,]\d+)?([eE][-+]?\d+)?\s*+[%€$£]?"
)
CODE = re.compile(r"0\d+|\d{9,}")
"""Digits that are no quantity: a leading zero, or the length of a number of a telephone or an account."""
FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%Y%m%d",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
TIMES = ("", " %H:%M:%S", " %H:%M", "T%H:%M:%S", "T%H:%M", "T%H:%M:%S.%f", " %H:%M:%S.%f", "T%H:%M:%SZ")
MIN_SHARE = 0.9
MIN_ROWS = 10
MAX_TRIED_LEVELS = 20_000
MAX_DATES = 2000
FIRST_TRIED = 30


def find_text_types(table: Table, search: Search) -> None:
    """Find texts of which nearly all read as numbers or dates."""
    for column in table.used:
        is_text = column.kind in ("text", "mixed") and not column.stored.startswith("category[")
        if is_text and column.role != "constant" and not search.is_over():
            codes, levels = table.levels(column.name)
            counts = np.bincount(codes[codes >= 0], minlength=len(levels))
            if counts.sum() >= MIN_ROWS:
                _find_type_of(column.name, counts, levels, search)


def _find_type_of(name: str, counts: Any, levels: list[str], search: Search) -> None:
    most = np.argsort(-counts, kind="stable")
    tried = most[:: -(-len(most) // MAX_TRIED_LEVELS)]
    texts, weights = [levels[index].strip() for index in tried], counts[tried]
    if not any(any(letter.isdigit() for letter in text) for text in texts):
        return
    found = _best_format(texts, weights)
    meant, reads = ("date", _reads_as(found)) if found else ("number", is_number)
    good = np.array([reads(text) for text in texts])
    share = float(weights[good].sum() / weights.sum())
    codes = np.array([CODE.fullmatch(text) is not None for text in texts])
    if share < MIN_SHARE or (meant == "number" and weights[codes].sum() > 0.2 * weights.sum()):
        return
    other = [text[:60] for text, ok in zip(texts, good, strict=True) if not ok][:3]
    search.add(
        "text_type",
        (name,),
        share,
        0.0,
        n=int(counts.sum()),
        meant=meant,
        share=share,
        other=other,
        format=found,
        decimal="," if meant == "number" and any(map(has_decimal_comma, texts)) else ".",
    )


def stand_for_values(levels: list[str]) -> bool:
    """Check for texts that are numbers with a point or a comma, or dates: they identify nothing."""
    some = [level.strip() for level in levels[:FIRST_TRIED]]
    decimal = sum(is_number(text) and not text.isdigit() for text in some)
    return decimal > len(some) / 2 or bool(_best_format(some, np.ones(len(some))))


def has_decimal_comma(text: str) -> bool:
    """Check for a number whose comma cannot stand between thousands: ``1.234,5`` and ``0,25``, not ``1,234``."""
    before, _, after = text.rpartition(",")
    digits = len(after) - len(after.lstrip("0123456789"))
    return "." in before or (bool(before) and digits not in (0, 3))


def is_number(text: str) -> bool:
    """Check that a text is one number, perhaps with separators, a sign of currency or percent."""
    return NUMBER.fullmatch(text) is not None and any(letter.isdigit() for letter in text)


def _best_format(texts: list[str], weights: Any) -> str:
    """Return the format that reads the most rows as dates, if nearly all; else an empty text."""
    best, best_share = "", 0.0
    step = -(-len(texts) // MAX_DATES)
    texts, weights = texts[::step], weights[::step]
    for form in FORMATS:
        for time in TIMES:
            reads = _reads_as(form + time)
            first = sum(map(reads, texts[:FIRST_TRIED]))
            if first < 0.8 * min(FIRST_TRIED, len(texts)):
                continue
            share = float(weights[[reads(text) for text in texts]].sum() / weights.sum())
            if share > best_share:
                best, best_share = form + time, share
    return best if best_share >= MIN_SHARE else ""


def _reads_as(form: str) -> Callable[[str], bool]:
    def reads(text: str) -> bool:
        try:
            moment = datetime.strptime(text, form)
        except ValueError:
            return False
        if form == "%Y%m%d" and (len(text) != 8 or not text.isdigit()):
            return False
        return 1800 <= moment.year <= 2200

    return reads
