"""Text from data is untrusted: what of it may stand in a prompt, and how numbers are written short."""

from __future__ import annotations

import math
import re
from typing import Any

MAX_VALUE_CHARS = 24
MAX_NAME_CHARS = 60
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff`<>]+")

_PERSONAL = re.compile(
    r"(^|[^a-z])((e_?mail(_?address)?|(tele|cell|mobile)?_?phone(_?(no|num|number))?|tel|mobile|fax|ssn|iban|bic|passport|"
    r"password|passwd|pwd|secret|credential|api_?key|private_?key|access_?key|credit_?card|card_?(no|num|number)|cvv|"
    r"tax_?id|national_?id|first_?name|last_?name|full_?name|surname|given_?name|maiden_?name|birth_?date|birthday|"
    r"date_?of_?birth|dob|street|(postal|home|street|ip|mail|mailing)_?address)(e?s)?([^a-z]|$)|"
    # `tokens` is a column of secrets, `tokens_total` is a count.
    r"token([^a-z]|$)|tokens$)"
)


def safe(text: str, max_chars: int = MAX_VALUE_CHARS) -> str:
    """One line without control characters, invisible or direction marks, backticks and angle brackets; capped."""
    cleaned = _UNSAFE.sub(" ", text[: max_chars * 4])
    return cleaned if len(cleaned) <= max_chars else cleaned[: max_chars - 1] + "…"


def quoted(text: str, max_chars: int = MAX_VALUE_CHARS) -> str:
    """As a Python string literal, so that data reads as data."""
    return repr(safe(text, max_chars))


def number(value: Any) -> str:
    """Four significant digits for floats, integers as they are."""
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
    """Whether a column's name says that it holds personal or secret values; those are told by type only.

    ``first_name``, ``Email``, ``cardNumber``; not ``name`` alone, which is a product or a station as often.
    """
    return _PERSONAL.search(words_of_name(column)) is not None


def words_of_name(name: object) -> str:
    """``cardNumber``, ``card number`` and ``Card-Number`` as ``card_number``."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", str(name)).lower().replace(" ", "_").replace("-", "_")
