"""Clean untrusted text from data for a prompt, and write numbers short."""

from __future__ import annotations

import math
import re
from typing import Any

MAX_VALUE_CHARS = 24
MAX_NAME_CHARS = 60
MAX_VARIABLE_NAME_CHARS = 200
# Characters that are invisible or join the letter before them.
_INVISIBLE = r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff"
_HIDDEN = re.compile(rf"[{_INVISIBLE}]+")
# With backticks, angle brackets and the bars of chat templates, and their look-alikes.
_UNSAFE = re.compile(
    rf"[{_INVISIBLE}`\u02cb\u1fef\uff40<>\u2039\u203a\u2329\u232a\u3008\u3009\ufe64\ufe65\uff1c\uff1e\uff5c]+"
)
# Control words of chat templates in square brackets: ``[INST]``, ``[/TOOL_CALLS]``.
_BRACKETED = re.compile(r"\[(/?[A-Z][A-Z_]{2,30})\]")

_PERSONAL = re.compile(
    r"(^|[^a-z])((e_?mail(_?address)?|(tele|cell|mobile)?_?phone(_?(no|num|number))?|tel|mobile|fax|ssn|iban|bic|passport|"
    r"password|passwd|pwd|secret|credential|api_?key|private_?key|access_?key|credit_?card|card_?(no|num|number)|cvv|"
    r"tax_?id|national_?id|first_?name|last_?name|full_?name|surname|given_?name|maiden_?name|birth_?date|birthday|"
    r"date_?of_?birth|dob|street|(postal|home|street|ip|mail|mailing)_?address)(e?s)?([^a-z]|$)|"
    # `tokens` is a column of secrets, `tokens_total` is a count.
    r"token([^a-z]|$)|tokens$)"
)


def safe(text: str, max_chars: int = MAX_VALUE_CHARS) -> str:
    """Return the text as one line of at most `max_chars` characters that cannot imitate markup.

    Control characters, invisible and direction marks, backticks, angle brackets and their look-alikes are removed.
    """
    seen = text[: max_chars * 4]
    if not seen.isprintable():  # controls, line ends, invisible and direction marks, surrogates
        seen = re.sub("\0+", " ", "".join(mark if mark.isprintable() else "\0" for mark in seen))
    cleaned = _BRACKETED.sub(r"(\1)", _UNSAFE.sub(" ", seen))
    return cleaned if len(cleaned) <= max_chars else cleaned[: max_chars - 1] + "…"


def visible(line: str) -> str:
    """Return a line of text without control characters, invisible and direction marks; its markup stays."""
    if not line.isprintable():
        line = "".join(mark if mark.isprintable() else " " * mark.isspace() for mark in line)
    return _HIDDEN.sub("", line)


def quoted(text: str, max_chars: int = MAX_VALUE_CHARS) -> str:
    """Return a Python string literal, so that data reads as data."""
    return repr(safe(text, max_chars))


def is_variable_name(name: str) -> bool:
    """Check that code can use the name and a prompt can hold it unchanged; `globals()` accepts any text as one."""
    return name.isidentifier() and safe(name, MAX_VARIABLE_NAME_CHARS) == name


def number(value: Any) -> str:
    """Return a float with four significant digits, an integer unchanged."""
    if isinstance(value, bool):
        return str(value)
    try:
        real = float(value)
    except (TypeError, ValueError, OverflowError):
        return safe(str(value))
    if math.isnan(real) or math.isinf(real):
        return str(real)
    if real == int(real) and abs(real) < 1e15:
        return str(int(real))
    return f"{real:.4g}"


def looks_personal(column: object) -> bool:
    """Check whether a column's name says that it holds personal or secret values; the prompt has their type only.

    ``first_name``, ``Email``, ``cardNumber``; not ``name`` alone, which is a product or a station as often.
    """
    return _PERSONAL.search(snake_case(column)) is not None


def snake_case(name: object) -> str:
    """Return ``card_number`` for ``cardNumber``, ``card number`` and ``Card-Number``."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", str(name)).lower().replace(" ", "_").replace("-", "_")
