"""Figures as words and programs write them: both round alike, so that the output shows each figure of a line."""

from __future__ import annotations

import math
import re

MAX_DIGITS = 6
_NUMBER = re.compile(r"(?<![\w.])[-+−]?\d[\d,_]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def digits_for(*figures: float) -> int:
    """Return the digits behind the point with which the figures, and how they differ, can be seen."""
    sizes = [abs(one) for one in figures if one]
    if not sizes:
        return 2
    spread = max(figures) - min(figures) if len(figures) > 1 else 0.0
    digits = 2 - math.floor(math.log10(max(sizes)))
    if spread:
        digits = max(digits, 1 - math.floor(math.log10(spread)))
    return min(max(digits, 0), MAX_DIGITS)


def rounded(value: float, digits: int) -> str:
    """Return ``20.2`` or ``19,873``: rounded as numpy does it, without zeros at the end."""
    scale = 10.0**digits
    text = f"{round(value * scale) / scale:,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def whole(value: float) -> str:
    """Return ``19,873``."""
    return f"{round(value):,}"


def percent(share: float) -> str:
    """Return the number of per cent with one digit: ``16.4``."""
    return rounded(100 * share, 1)


def are_duplicates(rows: int) -> str:
    """Return the words behind ``1 row`` or ``12 rows``; what they repeat follows."""
    return "is an exact duplicate" if rows == 1 else "are exact duplicates"


def are_shown(figures: tuple[str, ...], output: str) -> bool:
    """Check whether an output shows each figure (a number or an ISO date), however it writes thousands and zeros.

    The sign is left to the words: ``lower by 3.4`` is shown by ``-3.4``.
    """
    numbers = {_plain(number) for number in _NUMBER.findall(output)}
    return all(_plain(one) in numbers if _NUMBER.fullmatch(one) else one in output for one in figures)


def are_new(output: str, seen: str) -> bool:
    """Check whether an output shows a number that another one does not, to three significant digits."""
    return bool(_roughly(output) - _roughly(seen))


def _roughly(output: str) -> set[str]:
    return {f"{float(_plain(number)):.3g}" for number in _NUMBER.findall(output)}


def _plain(number: str) -> str:
    text = number.replace(",", "").replace("_", "").lstrip("+-−")
    try:
        value = float(text)
    except ValueError:
        return text
    return f"{value:.9f}".rstrip("0").rstrip(".")
