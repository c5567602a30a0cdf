"""Texts that stand for numbers or dates."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .date_texts import FIRST_TRIED, MIN_ROWS, MIN_SHARE, date_format, reads_as
from .roles import is_text
from .search import Search
from .table import Table

NUMBER = re.compile(
    r"[-+]?\s*+(?:[$€£¥]\s*+)?[-+]?(\d{1,3}([ ,.']\d{3})+|\d+)?([.,]\d+)?([eE][-+]?\d+)?\s*+[%€$£]?"
)
CODE = re.compile(r"0\d+|\d{9,}")
"""Digits that are no quantity: a leading zero, or the length of a number of a telephone or an account."""
MAX_TRIED_LEVELS = 20_000


def find_text_types(table: Table, search: Search) -> None:
    """Find texts of which nearly all read as numbers or dates."""
    for column in table.used:
        if is_text(column.kind, column.stored) and column.role != "constant" and not search.is_over():
            codes, levels = table.levels(column.name)
            counts = np.bincount(codes[codes >= 0], minlength=len(levels))
            if counts.sum() >= MIN_ROWS:
                _find_type_of(column.name, table.date_formats[column.name], counts, levels, search)


def _find_type_of(name: str, found: str, counts: Any, levels: list[str], search: Search) -> None:
    most = np.argsort(-counts, kind="stable")
    tried = most[:: -(-len(most) // MAX_TRIED_LEVELS)]
    texts, weights = [levels[index].strip() for index in tried], counts[tried]
    if not any(any(letter.isdigit() for letter in text) for text in texts):
        return
    meant, reads = ("date", reads_as(found)) if found else ("number", is_number)
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
    return decimal > len(some) / 2 or bool(date_format(some, np.ones(len(some))))


def has_decimal_comma(text: str) -> bool:
    """Check for a number whose comma cannot stand between thousands: ``1.234,5`` and ``0,25``, not ``1,234``."""
    before, _, after = text.rpartition(",")
    digits = len(after) - len(after.lstrip("0123456789"))
    return "." in before or (bool(before) and digits not in (0, 3))


def is_number(text: str) -> bool:
    """Check that a text is one number, perhaps with separators, a sign of currency or percent."""
    return NUMBER.fullmatch(text) is not None and any(letter.isdigit() for letter in text)
