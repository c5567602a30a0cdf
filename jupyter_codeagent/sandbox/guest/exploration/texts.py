"""Texts that stand for numbers or dates."""

from __future__ import annotations

from typing import Any

import numpy as np

from .date_texts import FIRST_TRIED, MIN_ROWS, MIN_SHARE, date_format, reads_as
from .number_texts import decimal_sign, is_number, share_of_numbers
from .search import Search
from .table import Table

MAX_TRIED_LEVELS = 20_000
MAX_FOUND = 30
"""Columns that are named; those that are read as what they mean come first."""


def find_text_types(table: Table, search: Search) -> None:
    """Find texts of which nearly all read as numbers or dates."""
    for column in sorted(table.used, key=lambda one: not table.is_read(one.name)):
        is_text = column.kind in ("text", "mixed") and not column.stored.startswith("category[")
        is_wanted = table.is_read(column.name) or not (search.is_over() or len(search.findings) >= MAX_FOUND)
        if is_text and column.role != "constant" and is_wanted:
            codes, levels = table.levels(column.name)
            counts = np.bincount(codes[codes >= 0], minlength=len(levels))
            if counts.sum() >= MIN_ROWS:
                _find_type_of(column.name, table, counts, levels, search)


def _find_type_of(name: str, table: Table, counts: Any, levels: list[str], search: Search) -> None:
    most = np.argsort(-counts, kind="stable")
    tried = most[:: -(-len(most) // MAX_TRIED_LEVELS)]
    texts, weights = [levels[index].strip() for index in tried], counts[tried]
    if not any(any(letter.isdigit() for letter in text) for text in texts):
        return
    found = table.date_formats.get(name)
    if found is None:
        found = date_format(texts, weights)
    meant, reads = ("date", reads_as(found)) if found else ("number", is_number)
    good = np.array([reads(text) for text in texts])
    share = float(weights[good].sum() / weights.sum()) if found else share_of_numbers(texts, weights)
    if share < MIN_SHARE:
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
        decimal=table.decimal_signs.get(name) or ("." if found else decimal_sign(texts)),
    )


def stand_for_values(levels: list[str]) -> bool:
    """Check for texts that are numbers with a point or a comma, or dates: they identify nothing."""
    some = [level.strip() for level in levels[:FIRST_TRIED]]
    decimal = sum(is_number(text) and not text.isdigit() for text in some)
    return decimal > len(some) / 2 or bool(date_format(some, np.ones(len(some))))
