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
MONEY = re.compile(r"[$€£¥%]")
START, EXPONENT = r"(?=[-+]?[.,]?\d)[-+]?", r"(?:[eE][-+]?\d{1,2})?"
GRAMMARS = {
    ".": re.compile(rf"{START}(?:[1-9]\d{{0,2}}(?:[ ,']\d{{3}})+|\d+)?(?P<decimals>\.\d+)?{EXPONENT}"),
    ",": re.compile(rf"{START}(?:[1-9]\d{{0,2}}(?:[ .']\d{{3}})+|\d+)?(?P<decimals>,\d+)?{EXPONENT}"),
}
"""Numbers without signs of currency and percent, by how they write the decimal point."""


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
    """Return how these numbers write the decimal point; other texts among them do not count."""
    return "," if any(has_decimal_comma(text) for text in texts if is_number(text)) else "."


def numbers_of(texts: list[str], rows: Any) -> tuple[Any, str] | None:
    """Return the numbers that texts mean, NaN for those without digits, and their decimal sign; None if not sure.

    Sure is one sign of currency or percent, or none, and one way to write decimals that fits all texts with digits.
    Plain digits may be codes and stay text. `rows` says how many rows have each text.
    """
    if len(texts) > MAX_PARSED or rows.sum() < MIN_ROWS:
        return None
    has_digits = np.array([any(letter.isdigit() for letter in text) for text in texts])
    is_plain = np.array([text.isdigit() for text in texts])
    if rows[has_digits].sum() < MIN_SHARE * rows.sum() or rows[is_plain].sum() > rows.sum() / 2:
        return None
    mark = _sure_decimal_sign([text for text, has in zip(texts, has_digits, strict=True) if has])
    if not mark:
        return None
    other = re.compile(rf"[^0-9{mark}eE+-]")
    numbers = np.full(len(texts), np.nan)
    for place in np.flatnonzero(has_digits):
        numbers[place] = float(other.sub("", texts[place]).replace(",", "."))
    return numbers, mark


def _sure_decimal_sign(texts: list[str]) -> str:
    """Return the decimal sign of texts that are all numbers of one kind; empty if it is not certain."""
    bare = [MONEY.sub("", text).strip() for text in texts]
    if len({"".join(MONEY.findall(text)) for text in texts}) > 1 or any(
        CODE.fullmatch(one.lstrip("+-")) for one in bare
    ):
        return ""
    fits = {mark: found for mark, grammar in GRAMMARS.items() if all(found := [*map(grammar.fullmatch, bare)])}
    if len(fits) > 1 and any("." in one for one in bare) and not all("." in one for one in bare):
        return ""  # 1.234 beside 500: thousands, or three decimals
    for mark, found in fits.items():
        decimals = {match["decimals"] for match in found if match is not None and match["decimals"]}
        is_version = len({*map(len, decimals)}) > 1 and any(one[2:].endswith("0") for one in decimals)  # 3.9, 3.10
        return "" if is_version else mark
    return ""
