"""Texts that stand for dates: in which format they are written, and which days they mean."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np

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
MIN_ROWS = 10
MIN_SHARE = 0.9
MAX_PARSED = 20_000
"""Different texts that are read one by one; ISO dates are read together, however many there are."""
MAX_TRIED = 2000
FIRST_TRIED = 30
FIRST_YEAR, LAST_YEAR = 1800, 2200
EPOCH = datetime(1970, 1, 1)
DAY_S = 86_400
FIRST_DAY, LAST_DAY = (datetime(FIRST_YEAR, 1, 1) - EPOCH).days, (datetime(LAST_YEAR + 1, 1, 1) - EPOCH).days


def date_format(texts: list[str], weights: Any) -> str:
    """Return the format that reads the most rows as dates, if nearly all; else an empty text."""
    if not any(any(letter.isdigit() for letter in text) for text in texts[:FIRST_TRIED]):
        return ""
    best, best_share = "", 0.0
    step = -(-len(texts) // MAX_TRIED)
    texts, weights = texts[::step], weights[::step]
    for form in FORMATS:
        for time in TIMES:
            reads = reads_as(form + time)
            first = sum(map(reads, texts[:FIRST_TRIED]))
            if first < 0.8 * min(FIRST_TRIED, len(texts)):
                continue
            share = float(weights[[reads(text) for text in texts]].sum() / weights.sum())
            if share > best_share:
                best, best_share = form + time, share
    return best if best_share >= MIN_SHARE else ""


def reads_as(form: str) -> Callable[[str], bool]:
    """Return the check for texts that are dates in a format, in years that people write."""
    years = range(FIRST_YEAR, LAST_YEAR + 1)
    return lambda text: (moment := _moment(text, form)) is not None and moment.year in years


def days_of(texts: list[str], rows: Any, form: str) -> Any:
    """Return the days since 1970 that texts mean, NaN for those that mean none; None if that is not certain.

    `rows` says how many rows have each text. Not certain are texts that could be read with day and month exchanged
    as well, or of which too many mean nothing as they stand, or one means a far year, which stands for something
    else. Too many to be read one by one give None, too.
    """
    days = _iso_days(texts) if form.startswith("%Y-%m-%d") else None
    if days is None and len(texts) <= MAX_PARSED:
        moments = [_moment(text, form) for text in texts]
        if _is_ambiguous([text for text, moment in zip(texts, moments, strict=True) if moment is not None], form):
            return None
        days = np.array([np.nan if one is None else (one - EPOCH).total_seconds() / DAY_S for one in moments])
    if days is None or rows[~np.isnan(days)].sum() < MIN_SHARE * rows.sum():
        return None
    return None if np.any((days < FIRST_DAY) | (days > LAST_DAY)) else days


def _iso_days(texts: list[str]) -> Any:
    # A month alone is a moment for numpy, and so is a day after a blank; pandas takes neither in this format.
    if len({(len(text), text[10:11]) for text in texts}) > 1 or any(text.strip() != text for text in texts):
        return None
    try:
        moments = np.array([text.removesuffix("Z") for text in texts], dtype="datetime64[us]")
    except ValueError:
        return None
    return moments.astype(np.int64) / (DAY_S * 1_000_000)


def _is_ambiguous(texts: list[str], form: str) -> bool:
    if not form.startswith(("%d/%m", "%m/%d", "%d-%m", "%m-%d")):
        return False
    exchanged = form.translate(str.maketrans("dm", "md"))
    return all(map(reads_as(exchanged), texts))


def _moment(text: str, form: str) -> datetime | None:
    """Return the moment that a text means in a format."""
    if form == "%Y%m%d" and (len(text) != 8 or not text.isdigit()):
        return None
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None
