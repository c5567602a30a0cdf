"""What values look like: numbers written as text, days that may be months, texts that differ by case or blanks."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

SEPARATORS = frozenset(" \t\n,.'\u00a0\u202f")
CHECKED = 200
"""Values that are looked at to tell what a column of text holds."""
_UNIT = r"(?!(?:st|nd|rd|th)\b)(?:[°µ]?[^\W\d_]{2,5}|(?<=[\s°])[^\W\d_])(?:/[^\W\d_]{1,3})?[²³]?"
_NUMBER = re.compile(rf"\s*+[-+(]?\s*+[$€£¥]?\s*+\d[\d,.' \u00a0\u202f]*+(?:[%$€£¥]|({_UNIT}))?\)?\s*+")
"""A number with a sign, a currency or a unit: -5, $5, 151,99 €, 12 kg, but not 2nd or ward 3A."""
CODES = frozenset(float(digit * times) for digit in "789" for times in range(1, 6))
"""What is entered for a value that is not known, with either sign."""
MIN_OTHERS = 4
"""Different values beside a code that a measured column has."""
MIN_CODES = 0.002
"""Share of the values from which a code is no accident."""
MAX_UNITS = 3
"""Different units that numbers have at most; texts with more are numbers of houses, flights or products."""
_THOUSANDS = re.compile(r"(?<![\d.])[1-9]\d{0,2}(?:\.\d{3})+(?!\d)")
_DAY_AND_MONTH = re.compile(r"\s*(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})\b")
_TOTAL = re.compile(
    r"(?:grand |sub ?)?totals?(?: \w+)?|all(?: \w+)?|overall|sum|gesamt\w*|summe|insgesamt", re.IGNORECASE
)
UNIT_NAME = re.compile(
    r"(?:^|[_\s])(?:unit|units|uom|scale|einheiten|cur|curr|currency|ccy|measure|einheit|währung|moneda|unidad|devise)(?:$|[_\s])",
    re.IGNORECASE,
)
SHARE_NAME = re.compile(
    r"(?:^|[_\s])(?:pct|percent|percentage|share|ratio|prozent|anteil)(?:$|[_\s])|%", re.IGNORECASE
)
"""A share of something, which has the same unit as any other share."""
AVERAGE_NAME = re.compile(r"(?:^|_)(?:mean|avg|average|median)(?:$|_)", re.IGNORECASE)
ROW_ID = re.compile(r"(?:^|_|\s)(?i:id|uuid|key)$|[a-z](?:Id|ID|Key)$")
ID_NAME = re.compile(r"(?:^|_|\s)(?i:id|key|uuid|number|no|nr|code)$|[a-z](?:Id|ID|No|Nr|Key)$")


def are_numbers(values: Iterable[Any]) -> bool:
    """Check whether texts are numbers: at least nine in ten of the first ones."""
    texts = _texts(values)
    found = [match for one in texts if (match := _NUMBER.fullmatch(one))]
    is_most = len(texts) > 1 and len(found) >= 0.9 * len(texts)
    return is_most and len({match[1] for match in found} - {None}) <= MAX_UNITS


def are_misordered_numbers(values: Iterable[Any]) -> bool:
    """Check for numbers as text that sort otherwise than as numbers: not 2019 and 2024, or 03 and 12."""
    texts = _texts(values)
    are_alike = all(one.isdecimal() and len(one) == len(texts[0]) for one in texts)
    return are_numbers(texts) and not are_alike


def ambiguous_days(values: Iterable[Any]) -> tuple[int, int, int]:
    """Return how many texts are dates like 03/04/2024, day first for sure (25/04), and month first for sure."""
    either = day_first = month_first = 0
    for one in _texts(values, limit=5000):
        if found := _DAY_AND_MONTH.match(one):
            first, second = int(found[1]), int(found[2])
            if first > 12 >= second:
                day_first += 1
            elif second > 12 >= first:
                month_first += 1
            elif first != second:
                either += 1
    return either, day_first, month_first


def read_days(texts: Iterable[Any], days: Iterable[Any]) -> tuple[int, int]:
    """Return how many dates like 03/04/2024 were read day first, and how many month first."""
    day_first = month_first = 0
    for text, day in zip(texts, days, strict=True):
        if isinstance(text, str) and (found := _DAY_AND_MONTH.match(text)):
            first, second = int(found[1]), int(found[2])
            if first != second and max(first, second) <= 12:
                day_first += day == first
                month_first += day == second
    return day_first, month_first


def have_three_decimals(values: Iterable[Any]) -> bool:
    """Check for texts such as 1.234, which may be thousands: each that has a point has three digits behind it."""
    pointed = [one for one in _texts(values) if "." in one]
    return len(pointed) > 4 and all(_THOUSANDS.search(one) for one in pointed)


def are_placeholders(values: Iterable[Any]) -> bool:
    """Check whether texts without a digit, such as ``n/a`` or ``open``, are all that could not be read."""
    return all(isinstance(value, str) and not any(char.isdigit() for char in value) for value in values)


def cut_offs(texts: Iterable[Any], parts: Iterable[Any]) -> Counter[str]:
    """Return what is left of texts such as ``2.5 h`` where a part of each was taken, and how often.

    Separators of thousands, blanks and the point are no rest; a minus is one.
    """
    found: Counter[str] = Counter()
    for text, part in zip(texts, parts, strict=True):
        if isinstance(text, str) and isinstance(part, str) and any(char.isdigit() for char in part):
            left = Counter(text) - Counter(part)
            found["".join(char for char in text if char in left and char not in SEPARATORS)] += 1
    return found


def are_days_in_wrong_order(values: Iterable[Any]) -> bool:
    """Check for dates as text that do not begin with the year: they compare and sort by the day or the month."""
    texts = _texts(values)
    return len(texts) > 1 and sum(bool(_DAY_AND_MONTH.match(one)) for one in texts) >= 0.9 * len(texts)


def missing_code(numbers: Sequence[float]) -> float | None:
    """Return a number such as 99 or -9 that stands for a missing value: it recurs, far from all other values.

    Far is at least as far as the others are apart.
    """
    counts = Counter(number for number in numbers if not is_missing(number))
    others = [number for number in counts if abs(number) not in CODES]
    if len(others) < MIN_OTHERS:
        return None
    low, high = min(others), max(others)
    found = [number for number in counts if number <= low - (high - low) or number >= high + (high - low)]
    often = max(found, key=lambda number: counts[number], default=None)
    return often if often is not None and counts[often] >= max(3, MIN_CODES * counts.total()) else None


def is_total(value: Any) -> bool:
    """Check whether a label says that its row sums up the others."""
    return isinstance(value, str) and len(value) < 40 and _TOTAL.fullmatch(value.strip()) is not None


def plain(value: Any) -> str:
    """Return a text without case, blanks, punctuation and zeros in front of a number, for comparing."""
    text = re.sub(r"[\W_]+", "", str(value)).casefold()
    return (text.lstrip("0") or "0") if text.isdigit() else text


def _texts(values: Iterable[Any], limit: int = CHECKED) -> list[str]:
    found = []
    for value in values:
        if isinstance(value, str):
            found.append(value)
            if len(found) == limit:
                break
    return found


def is_missing(value: Any) -> bool:
    """Check for None, NaN, NaT or pandas.NA."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")
