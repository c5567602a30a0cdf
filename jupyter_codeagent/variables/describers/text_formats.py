"""Describe the format of text that contains dates or numbers, without any of its values.

Code that reads such a column needs the format. With ``Date str`` alone, small models split the text; with
``Date str 251u, text dates '%m/%d/%Y', convert first`` they call `pandas.to_datetime`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

CHECKED_TEXTS = 40
"""Distinct texts of a column that are checked."""
MIN_SHARE = 0.9
"""Share of the texts that must be numbers; the rest are exceptions."""
MAX_EXCEPTION_CHARS = 8

_MISSING_WORDS = frozenset({"na", "n/a", "nan", "none", "null", "nil", "missing", "unknown", "inf", "tbd", "total"})
_MONTH = r"(?P<month>[A-Z][a-z]{2,8})"
_DAYS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(rf"{pattern}(?P<time>[ T]\d\d?:.*)?"), forms)
    for pattern, forms in (
        (r"(?:19|20)\d\d(?P<sign>[-/.])\d\d?(?P=sign)\d\d?", ("%Y{sign}%m{sign}%d",)),
        (r"\d\d?(?P<sign>[-/.])\d\d?(?P=sign)\d{4}", ("%m{sign}%d{sign}%Y", "%d{sign}%m{sign}%Y")),
        (r"\d\d?(?P<sign>[-/.])\d\d?(?P=sign)\d\d", ("%m{sign}%d{sign}%y", "%d{sign}%m{sign}%y")),
        (rf"\d\d?(?P<sign>[- ]){_MONTH}(?P=sign)\d{{4}}", ("%d{sign}{month}{sign}%Y",)),
        (rf"\d\d?(?P<sign>[- ]){_MONTH}(?P=sign)\d\d", ("%d{sign}{month}{sign}%y",)),
        (rf"{_MONTH} \d\d?(?P<sign>,? )\d{{4}}", ("{month} %d{sign}%Y",)),
        (rf"{_MONTH}(?P<sign>[- ])\d{{4}}", ("{month}{sign}%Y",)),
        (rf"{_MONTH}(?P<sign>-)\d\d", ("{month}{sign}%y",)),
        (r"(?:19|20)\d\d(?P<sign>[-/])\d\d", ("%Y{sign}%m",)),
        (r"(?:19|20)\d{6}", ("%Y%m%d",)),
    )
)
"""Patterns of days, and the formats that each may have; a format counts only if it can parse all texts."""
_TIMES = tuple(
    (re.compile(pattern), form)
    for pattern, form in (
        (r"\d\d?:\d\d", "%H:%M"),
        (r"\d\d?:\d\d:\d\d", "%H:%M:%S"),
        (r"\d\d?:\d\d:\d\d\.\d+", "%H:%M:%S.%f"),
        (r"\d\d?:\d\d:\d\dZ", "%H:%M:%SZ"),
        (r"\d\d?:\d\d:\d\d ?[+-]\d\d:?\d\d", "%H:%M:%S%z"),
        (r"\d\d?:\d\d [AaPp][Mm]", "%I:%M %p"),
        (r"\d\d?:\d\d:\d\d [AaPp][Mm]", "%I:%M:%S %p"),
    )
)
_NUMBER = re.compile(
    r"(?P<open>\(?)[-+\u2212]?(?P<before>[$€£¥]?)\s?[-+\u2212]?(?P<digits>\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
    r"\s?(?P<after>%|[$€£¥]|[A-Za-z]{1,3}\b\.?)?\)?"
)


def describe_text_format(texts: Sequence[str]) -> str:
    """Return ``text dates '%m/%d/%Y'`` or ``text numbers with '$' ','``; empty for other text.

    A few distinct texts are checked. Exceptions among numbers are named if they mean a missing value (``but '?'``):
    they make a conversion fail.
    """
    some = list(dict.fromkeys(texts))
    some = some[:: max(1, len(some) // CHECKED_TEXTS)][:CHECKED_TEXTS]
    if not some:
        return ""
    return _dates(some) or _numbers(some, texts)


def _dates(some: Sequence[str]) -> str:
    forms = [form for form in _forms(some[0].strip()) if all(_can_parse(text.strip(), form) for text in some)]
    return f"text dates {' or '.join(map(repr, forms))}" if forms else ""


def _forms(text: str) -> list[str]:
    for pattern, forms in _DAYS:
        if (match := pattern.fullmatch(text)) is None:
            continue
        found = match.groupdict("")
        time = found["time"]
        ends = [f"{time[0]}{form}" for clock, form in _TIMES if clock.fullmatch(time[1:])] if time else [""]
        month = "%b" if len(found.get("month", "")) == 3 else "%B"
        return [form.format(sign=found.get("sign", ""), month=month) + end for form in forms for end in ends]
    return []


def _can_parse(text: str, form: str) -> bool:
    try:
        datetime.datetime.strptime(text, form)
    except ValueError:
        return False
    return True


def _numbers(some: Sequence[str], texts: Sequence[str]) -> str:
    matches = [_NUMBER.fullmatch(text.strip()) for text in some]
    found = [match for match in matches if match is not None]
    if len(found) < MIN_SHARE * len(some) or _are_codes(found):
        return ""
    signs = {sign for match in found for sign in (match["open"], match["before"], match["after"]) if sign}
    signs |= {"," for match in found if "," in match["digits"]}
    exceptions = sorted({text.strip() for text in texts if _is_missing(text.strip())})[:3]
    with_signs = f" with {' '.join(map(repr, sorted(signs)))}" if signs else ""
    return f"text numbers{with_signs}" + (f" but {' '.join(map(repr, exceptions))}" if exceptions else "")


def _are_codes(found: Sequence[re.Match[str]]) -> bool:
    """Check for codes: leading zeros (postal codes, article numbers), or various letters (sizes, seats)."""
    digits = [match["digits"] for match in found]
    zeros = any(len(text) > 1 and text[0] == "0" and text[1] != "." for text in digits)
    units = {match["after"] for match in found if match["after"] and match["after"].isalpha()}
    return zeros or len(units) > 3


def _is_missing(text: str) -> bool:
    return text.lower() in _MISSING_WORDS or (
        len(text) <= MAX_EXCEPTION_CHARS and not any(mark.isalnum() for mark in text)
    )
