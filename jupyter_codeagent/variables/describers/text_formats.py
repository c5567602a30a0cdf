"""Text that stands for dates or numbers: how it is written, without a value of it.

Code that reads such a column must know it: small models cut ``Date str`` into pieces; ``Date str 251u, text dates
'%m/%d/%Y', convert first`` is meant to be given to `pandas.to_datetime`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

LOOKED_AT = 40
"""Distinct texts of a column."""
MIN_SHARE = 0.9
"""Of the texts that must be written so; the rest are told as an exception."""
MAX_EXCEPTION_CHARS = 8

_NAMES_OF_NOTHING = frozenset(
    {"na", "n/a", "nan", "none", "null", "nil", "missing", "unknown", "inf", "tbd", "total"}
)
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
"""How days are written, and the formats that may be meant; a format counts only if all texts can be read by it."""
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


def written_as(texts: Sequence[str]) -> str:
    """``text dates '%m/%d/%Y'``, ``text numbers with '$' ','``; empty for text that is text.

    A few distinct texts are looked at. Exceptions among numbers are told where they are a word or sign for nothing
    (``but '?'``): they are what makes a conversion fail.
    """
    some = list(dict.fromkeys(texts))
    some = some[:: max(1, len(some) // LOOKED_AT)][:LOOKED_AT]
    if not some:
        return ""
    return _dates(some) or _numbers(some, texts)


def _dates(some: Sequence[str]) -> str:
    forms = [form for form in _forms(some[0].strip()) if all(_is_written(text.strip(), form) for text in some)]
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


def _is_written(text: str, form: str) -> bool:
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
    nothing = sorted({text.strip() for text in texts if _stands_for_nothing(text.strip())})[:3]
    with_signs = f" with {' '.join(map(repr, sorted(signs)))}" if signs else ""
    return f"text numbers{with_signs}" + (f" but {' '.join(map(repr, nothing))}" if nothing else "")


def _are_codes(found: Sequence[re.Match[str]]) -> bool:
    """Leading zeros and one length for all: postal codes, article numbers; letters that differ: sizes, seats."""
    digits = [match["digits"] for match in found]
    zeros = any(len(text) > 1 and text[0] == "0" and text[1] != "." for text in digits)
    units = {match["after"] for match in found if match["after"] and match["after"].isalpha()}
    return zeros or len(units) > 3


def _stands_for_nothing(text: str) -> bool:
    return text.lower() in _NAMES_OF_NOTHING or (
        len(text) <= MAX_EXCEPTION_CHARS and not any(mark.isalnum() for mark in text)
    )
