"""Texts that stand for numbers: with signs of currency and percent, separators, or a decimal comma."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .date_texts import MIN_ROWS, MIN_SHARE

NUMBER = re.compile(
    r"[-+]?\s*+(?:[$€£¥]\s*+)?[-+]?"
    r"(?:(?:\d{1,3}(?:[ ,.']\d{3})+|\d+)(?:[.,]\d+)?|[.,]\d+)(?:[eE][-+]?\d+)?\s*+[%€$£]?"
)
CODE = re.compile(r"0\d+|\d{9,}")
"""Digits that are no quantity: a leading zero, or the length of a number of a telephone or an account."""
MAX_CODES = 0.2
"""Share of rows with such digits from which on all are taken for codes."""
MAX_PARSED = 200_000


def is_number(text: str) -> bool:
    """Check that a text is one number, perhaps with separators, a sign of currency or percent."""
    return NUMBER.fullmatch(text) is not None


def has_decimal_comma(text: str) -> bool:
    """Check for a number whose comma cannot stand between thousands: ``1.234,5`` and ``0,25``, not ``1,234``."""
    before, _, after = text.rpartition(",")
    digits = len(after) - len(after.lstrip("0123456789"))
    return "." in before or (bool(before) and digits not in (0, 3))


def share_of_numbers(texts: list[str], rows: Any) -> float:
    """Return the share of rows whose text is a number; 0 where they are codes."""
    codes = np.array([CODE.fullmatch(text) is not None for text in texts])
    if rows[codes].sum() > MAX_CODES * rows.sum():
        return 0.0
    return float(rows[[is_number(text) for text in texts]].sum() / rows.sum())


def decimal_sign(texts: list[str]) -> str:
    """Return how these numbers write the decimal point."""
    return "," if any(map(has_decimal_comma, texts)) else "."


def numbers_of(texts: list[str], rows: Any) -> Any:
    """Return the numbers that texts mean, NaN for those that mean none; None unless numbers are surely meant.

    `rows` says how many rows have each text. Plain digits may be codes and stay text: only signs, separators and
    decimals tell a quantity.
    """
    if len(texts) > MAX_PARSED or rows.sum() < MIN_ROWS:
        return None
    plain = np.array([text.isdigit() for text in texts])
    if rows[plain].sum() > rows.sum() / 2 or share_of_numbers(texts, rows) < MIN_SHARE:
        return None
    mark = decimal_sign(texts)
    other = re.compile(rf"[^0-9{mark}eE+-]")
    numbers = np.array([_number(other.sub("", text).replace(",", ".")) for text in texts])
    return None if rows[~np.isnan(numbers)].sum() < MIN_SHARE * rows.sum() else numbers


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan
