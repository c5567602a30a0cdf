"""Describe the format of text that contains dates, numbers or lists, without any of its values.

Code that reads such a column needs the format. With ``Date str`` alone, small models split the text; with
``Date str 251u, text dates: pd.to_datetime(x, format='%m/%d/%Y')`` some call it, and `agent.prompt.text_columns`
begins their program with it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

CHECKED_TEXTS = 40
"""Distinct texts of a column that are checked."""
MIN_SHARE = 0.9
"""Share of the texts that must be numbers; the rest are exceptions."""
MAX_EXCEPTION_CHARS = 8
MIN_LISTS = 0.3
"""Share of the texts that must have more than one item."""

_MULTIPLES = {"k": "e3", "K": "e3", "M": "e6"}
_DECIMAL_COMMA = re.compile(r"[-+]?\d{1,3}(?:\.?\d{3})*(?:,\d+)?")
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


@dataclass(frozen=True, kw_only=True)
class TextFormat:
    """How the texts of a column are written."""

    told: str = ""
    """``text dates``; with `convert first` where no single call reads them all. Empty for other text."""
    reading: str = ""
    """The call of pandas that reads the column `x`: ``pd.to_datetime(x, format='%m/%d/%Y')``."""


def describe_text_format(texts: Sequence[str], *, in_pandas: bool) -> TextFormat:
    """Return how dates, numbers or lists are written as text; a few distinct texts are checked."""
    some = list(dict.fromkeys(texts))
    some = some[:: max(1, len(some) // CHECKED_TEXTS)][:CHECKED_TEXTS]
    if not some:
        return TextFormat()
    found = _dates(some, texts, in_pandas) or _numbers(some, texts, in_pandas) or _lists(some, in_pandas)
    return found or TextFormat()


def _dates(some: Sequence[str], texts: Sequence[str], in_pandas: bool) -> TextFormat | None:
    dates = [text.strip() for text in some if not _is_missing(text.strip())]
    forms = [form for form in _forms(dates[0]) if all(_can_parse(text, form) for text in dates)] if dates else []
    if not forms:
        return None
    exceptions = _exceptions(texts)
    if in_pandas and len(forms) == 1:
        return _read("text dates", exceptions, f"pd.to_datetime(x, format={forms[0]!r}")
    return TextFormat(told=f"text dates {' or '.join(map(repr, forms))}{exceptions}, convert first")


def _read(told: str, exceptions: str, call: str) -> TextFormat:
    return TextFormat(told=f"{told}{exceptions}", reading=call + (", errors='coerce')" if exceptions else ")"))


def _exceptions(texts: Sequence[str]) -> str:
    """Return ``but '?'``: the texts that mean a missing value make a conversion fail."""
    found = sorted({text.strip() for text in texts if _is_missing(text.strip())})[:3]
    return f" but {' '.join(map(repr, found))}" if found else ""


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


def _numbers(some: Sequence[str], texts: Sequence[str], in_pandas: bool) -> TextFormat | None:
    exceptions = _exceptions(texts)
    if in_pandas and _have_decimal_comma(some):
        call = "pd.to_numeric(x.str.replace('.', '').str.replace(',', '.')"
        return _read("text numbers with decimal comma", exceptions, call)
    matches = [_NUMBER.fullmatch(text.strip()) for text in some]
    found = [match for match in matches if match is not None]
    if len(found) < MIN_SHARE * len(some) or _are_codes(found):
        return None
    units = {sign for match in found for sign in (match["open"], match["before"], match["after"]) if sign}
    signs = units | {"," for match in found if "," in match["digits"]}
    are_all = all(match is not None or _is_missing(text.strip()) for match, text in zip(matches, some, strict=True))
    is_one_unit = "(" not in units and sum(unit.isalpha() for unit in units - _MULTIPLES.keys()) <= 1
    if in_pandas and are_all and is_one_unit:
        return _read("text numbers", exceptions, f"pd.to_numeric({_digits_only(signs)}")
    with_signs = f" with {' '.join(map(repr, sorted(signs)))}" if signs else ""
    return TextFormat(told=f"text numbers{with_signs}{exceptions}, convert first")


def _digits_only(signs: Set[str]) -> str:
    """Return the call that leaves what `pandas.to_numeric` reads: ``52.3k`` as ``52.3e3``."""
    if not signs:
        return "x"
    multiples = {sign: exponent for sign, exponent in _MULTIPLES.items() if sign in signs}
    kept = f"x.str.replace(r'[^0-9.{''.join(multiples)}-]', '', regex=True)"
    return kept + "".join(f".str.replace({sign!r}, {exponent!r})" for sign, exponent in multiples.items())


def _have_decimal_comma(some: Sequence[str]) -> bool:
    """Check for ``1.234,50``, and that not all can be thousands as in ``1,234``."""
    numbers = [text.strip() for text in some if not _is_missing(text.strip())]
    is_comma = bool(numbers) and all(map(_DECIMAL_COMMA.fullmatch, numbers))
    return is_comma and any(re.search(r",(?!\d{3}$)", text) for text in numbers)


def _lists(some: Sequence[str], in_pandas: bool) -> TextFormat | None:
    """Tell of lists in cells where their items come again and again, as in ``C01; M03``."""
    for sign in ";|":
        with_sign = [text for text in some if sign in text]
        items = [item.strip().lower() for text in some for item in text.split(sign)]
        if in_pandas and len(with_sign) >= MIN_LISTS * len(some) and 2 * len(set(items)) <= len(items):
            return TextFormat(told="lists", reading=f"x.str.split(r'\\s*{re.escape(sign)}\\s*', regex=True)")
    return None


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
