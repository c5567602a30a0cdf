"""Numbers in a text, and whether a number of one text was computed in another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation

_UP_TO_TWENTY = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
WORDS = {word: number for number, word in enumerate(_UP_TO_TWENTY)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=3)
}
_SCALES = {"thousand": 1_000, "k": 1_000, "million": 10**6, "billion": 10**9, "bn": 10**9}
MAX_ROUNDING = Decimal("0.1")
"""Largest relative change by rounding: 5.6 may be written as 6, 1.4 not as 1."""

MAX_EXPONENT = 400
"""Largest exponent of a number that is compared by value; beyond it (and any float) it is compared as text."""
HEDGE_CHARS = 24
"""Distance before a number within which its hedge may begin."""
_EXACT = Context(prec=4 * MAX_EXPONENT)

_SEPARATORS = ",_'\\u2019\\u202f\\u00a0"  # no blank: it separates the columns of a table
# Outputs have any length and come from hostile code. A word is tried from its beginning only: tried from each of
# its letters, a line of 200,000 letters takes an hour.
_NUMBER = re.compile(
    r"(?P<before>(?:(?<![A-Za-z_])[A-Za-z_]+)?)"
    r"(?P<sign>(?<![\w)\]%.])[-\u2212+])?"
    rf"(?P<digits>\d+(?:[{_SEPARATORS}]\d{{3}}(?!\d))*(?:\.\d+)?|\.\d+)"
    r"(?P<exponent>[eE][-+]?\d+)?"
    r"(?P<after>(?:\s?%|\s(?:percent|per cent|thousand|million|billion|bn)\b|k\b|[A-Za-z_]\w*)?)"
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)$")
_HEDGES = re.compile(
    r"(?:about|around|nearly|almost|roughly|approximately|some|over|under|more than|less than|just|~|≈)\s*$", re.I
)
_FOOTER = re.compile(r"\s*(?:Name:|dtype:|Length:|Freq:|\[\d+ rows|shape:)")
_LABEL = re.compile(r"(?<![\w.])(?=\w*[A-Za-z])\w{2,}")
_NO_LABELS = frozenset(
    {"nan", "none", "true", "false", "dtype", "int64", "float64", "object", "name", "of", "the", "is"}
)
_WORD = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class NumberInText:
    """A number as it is written in a text."""

    text: str
    value: Decimal
    digits: int = 0
    """Digits behind the decimal point."""
    percent: bool = False
    scale: int = 1
    """1,000,000 for ``1.2 million``."""
    hedged: bool = False
    """Whether ``about``, ``nearly`` … stands before it."""
    identifier: str = ""
    """A digit within a word (``N14228``, ``Q3``), or a number beyond all floats: compared as text."""


def numbers_in(text: str) -> frozenset[NumberInText]:
    """Return all numbers, including words from two to ninety (``one`` is usually no number)."""
    found = {_number(match, text) for match in _NUMBER.finditer(text)}
    words = {
        NumberInText(text=match.group(), value=Decimal(WORDS[match.group().lower()]))
        for match in _WORD.finditer(text)
        if match.group().lower() != "one"
    }
    return frozenset(found | words)


def sources_in(text: str) -> frozenset[NumberInText]:
    """Return the numbers of a text that may be CSV: ``100,200`` is read as one number and as two."""
    return numbers_in(text) | numbers_in(re.sub(r"(?<=\d)[,_'](?=\d)", " ", text))


def is_supported(number: NumberInText, sources: Iterable[NumberInText]) -> bool:
    """Check whether one of the sources is this number, written with at least as many digits."""
    if number.identifier:
        return any(number.identifier == source.identifier for source in sources)
    return any(not source.identifier and _same(number, source) for source in sources)


def corrected(text: str, sources: Iterable[NumberInText]) -> str:
    """Round numbers whose digits were cut off: 18.99 for 18.9963 becomes 19.00."""
    sources = list(sources)
    for number in numbers_in(text):
        if number.digits == 0 or number.identifier or is_supported(number, sources):
            continue
        unit = Decimal(1).scaleb(-number.digits)
        cut_off = [
            s.value
            for s in sources
            if s.digits > number.digits and s.value.quantize(unit, ROUND_DOWN, _EXACT) == number.value
        ]
        if cut_off:
            right = str(cut_off[0].quantize(unit, ROUND_HALF_UP, _EXACT))
            text = re.sub(rf"(?<![\d.]){re.escape(str(number.value))}(?![\d])", right, text)
    return text


def row_count(outputs_text: str) -> frozenset[NumberInText]:
    """Return the number of displayed rows, so that ``the top 5`` is not taken for invented.

    Empty for less than two rows.
    """
    rows = len(_rows(outputs_text))
    return frozenset({NumberInText(text=str(rows), value=Decimal(rows))}) if rows > 1 else frozenset()


def mixes_rows(text: str, outputs_text: str, prompt_numbers: Iterable[NumberInText]) -> tuple[str, ...]:
    """Return the numbers that are only in rows which the text does not name, although it names others."""
    rows = [(labels, sources_in(line)) for line in _rows(outputs_text) if (labels := _labels(line))]
    words = {word.lower() for word in _LABEL.findall(text)}
    if not any(labels & words for labels, _ in rows):
        return ()
    prompt_numbers = frozenset(prompt_numbers) | row_count(outputs_text)
    free = frozenset(
        number for line in outputs_text.split("\n") if not _labels(line) for number in sources_in(line)
    )
    return tuple(
        sorted(
            number.text
            for number in numbers_in(text)
            if not number.identifier
            and not is_supported(number, prompt_numbers | free)
            and (owners := [labels for labels, numbers in rows if is_supported(number, numbers)])
            and not any(labels & words for labels in owners)
        )
    )


def _rows(text: str) -> list[str]:
    """Return the lines of a table or a listing: those with a number, without the footers of pandas."""
    return [line for line in text.split("\n") if re.search(r"\d", line) and not _FOOTER.match(line)]


def _labels(line: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _LABEL.findall(line) if word.lower() not in _NO_LABELS)


def _same(number: NumberInText, source: NumberInText) -> bool:
    value, other = abs(number.value), abs(source.value) * source.scale
    if number.percent == source.percent:
        forms = [other]
    elif number.percent:
        forms = [other, other * 100]  # a share, or a number of a column that is in percent already
    else:
        forms = [other, other / 100]
    return any(_rounds_to(form / number.scale, value, number) for form in forms)


def _rounds_to(source: Decimal, written: Decimal, number: NumberInText) -> bool:
    if source == written:
        return True
    if written == 0 or abs(source - written) > MAX_ROUNDING * abs(source):
        return False
    unit = Decimal(1).scaleb(-number.digits)
    if number.hedged and number.digits == 0:  # "about 337,000"
        zeros = len(str(int(written))) - len(str(int(written)).rstrip("0"))
        unit = Decimal(10) ** zeros
    return abs(source - written) <= unit / 2


def _number(match: re.Match[str], text: str) -> NumberInText:
    before, after = match["before"], match["after"].strip()
    if before or (
        after and after[0].isalpha() and after.lower() not in _known_units() and not _ORDINAL.match(after)
    ):
        word = before + match["digits"] + (match["exponent"] or "") + after
        if before:
            return NumberInText(text=word, value=Decimal(0), identifier=word.lower())
    digits = re.sub(f"[{_SEPARATORS}]", "", match["digits"])
    written = match.group().strip()
    as_text = NumberInText(text=written, value=Decimal(0), identifier=written.lower())
    try:
        value = Decimal((match["sign"] or "").replace("\u2212", "-") + digits + (match["exponent"] or ""))
    except InvalidOperation:
        return as_text
    if abs(value.adjusted()) > MAX_EXPONENT:
        return as_text
    return NumberInText(
        text=written,
        value=value,
        digits=len(digits.partition(".")[2]),
        percent=after in ("%", "percent", "per cent"),
        scale=_SCALES.get(after.lower(), 1),
        hedged=bool(_HEDGES.search(text, max(0, match.start() - HEDGE_CHARS), match.start())),
    )


def _known_units() -> frozenset[str]:
    return frozenset({"percent", "per cent", *_SCALES})
