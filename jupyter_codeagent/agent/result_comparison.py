"""Read numbers, keys and tables from a program's outputs, so that the results of two programs can be compared.

Wording does not count: ``mean: 3.14`` equals ``The mean is 3.142``. Keys do where both programs name one:
``@mean[3.14]`` is not ``@median[3.14]``, and a table is compared cell by cell, in rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_codeagent.agent.html_tables import table_cells
from jupyter_codeagent.agent.output_text import joined
from jupyter_codeagent.notebook.outputs.interactive import INTERACTIVE_MIME
from jupyter_codeagent.types.sandbox import ExecutionResult, Output

MAX_CHARS = 40_000
"""Limit for the outputs that are read: they come from code that nobody has reviewed."""
MAX_PAIRS = 500
"""Limit for rows in any order: each is compared with all others."""
SIGNIFICANT = 4
"""Digits to which numbers have to agree."""
MAX_NAME_WORDS = 6
"""Longest answer without numbers (``Germany``) that may end the other result's sentence."""

# Possessive quantifiers: hostile text could make a pattern try everything.
_NUMBER = re.compile(
    r"(?<![\w.])(?=[-\u2212]?\.?\d)"
    r"(?P<value>[-\u2212]?(?:\d{1,3}(?:,\d{3})++(?!\d)|\d++)?(?P<digits>(?<=\d)\.\d*+|\.\d++)?"
    r"(?:(?<=[\d.])[eE][-+]?\d++)?)(?P<percent>\s?%)?(?!\w)"
)
_WORD = re.compile(r"[^\W_]+")
_TYPED = re.compile(r"\b(?:np|numpy)\.\w+\(([^()]*)\)")
_NAMED = re.compile(r"@(\w+)\s*\[([^\[\]]*)\]")
_PAIR = re.compile(r"[\s{(\[]*+(?P<key>[^:=]*[^:=\s])\s*+[:=]++(?P<value>[^:=]*+)")
_PIECES = re.compile(r"[,;|]\s+")
_CELLS = re.compile(r"\s{2,}|\t")
_FOOTER = re.compile(r"\s*(?:Name:|dtype:|Length:|Freq:|Categories |\[\d+ rows|shape:)")
_RULES = str.maketrans(dict.fromkeys("│┆║|", "\t") | dict.fromkeys("┌┬┐├┼┤└┴┘─═╞╪╡╭╮╰╯╌", " "))
_WARNING = re.compile(r"\b\w*Warning: ")
_MIDNIGHT = re.compile(r"(?<=\d)[ T]00:00:00(?:\.0+)?(?!\S)")
_SAME_WORD = {"average": "mean", "avg": "mean", "pvalue": "p", "stdev": "std"}
_FILLER = re.compile(
    r"an?|and|answer|are|by|equals|figure|for|ha(?:s|ve)|in|is|its?|of|on|\w{0,40}result|statistic|the(?:re)?|to|values?|w(?:as|ere)"
)


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number as it was printed."""

    value: float
    digits: int = 0
    """Digits behind the decimal point."""
    whole: bool = False
    percent: bool = False


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line, one row of a table, or one pair of a listing."""

    numbers: tuple[Number, ...]
    words: tuple[str, ...]
    keyed: bool = False
    """Whether the words are the key of the numbers, not a sentence around them."""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that a program displayed."""

    rows: tuple[Row, ...] = ()
    pictures: int = 0

    @property
    def with_numbers(self) -> tuple[Row, ...]:
        """The rows that have a number."""
        return tuple(row for row in self.rows if row.numbers)


def findings(result: ExecutionResult) -> Findings:
    """Read the findings from a result; warnings on stderr are not part of it."""
    rows: list[Row] = []
    left = MAX_CHARS
    for output in result.outputs:
        html, plain = _shown(output)
        cells = table_cells(html[:left]) if "<table" in html else []
        rows += _rows_of_cells(cells) if cells else _rows_of_text(plain[:left])
        left = max(0, left - len(html if cells else plain))
    return Findings(rows=tuple(rows), pictures=sum(_is_picture(output) for output in result.outputs))


def warning_count(result: ExecutionResult) -> int:
    """Count the warnings that the code caused."""
    return sum(
        len(_WARNING.findall(output["text"][:MAX_CHARS]))
        for output in result.outputs
        if output["output_type"] == "stream" and output["name"] == "stderr"
    )


def agree(one: Findings, other: Findings) -> bool:
    """Check whether both programs found the same."""
    if one.pictures != other.pictures:
        return False
    mine, yours = one.with_numbers, other.with_numbers
    if not mine and not yours:
        return _same_words(one.rows, other.rows)
    if len(mine) == len(yours) <= MAX_PAIRS and all(row.keyed for row in (*mine, *yours)):
        return _same_pairs(mine, yours)
    return _same_numbers([n for row in mine for n in row.numbers], [n for row in yours for n in row.numbers])


def _same_pairs(mine: Sequence[Row], yours: Sequence[Row]) -> bool:
    """Check whether each row has its own counterpart; rows with keys may come in any order."""
    left = list(yours)
    for row in mine:
        match = next(
            (found for found in left if _same_key(row, found) and _same_numbers(row.numbers, found.numbers)), None
        )
        if match is None:
            return False
        left.remove(match)
    return True


def _same_key(one: Row, other: Row) -> bool:
    """Check whether the words of one key contain those of the other: ``mean`` and ``mean fare``."""
    mine, yours = set(one.words), set(other.words)
    return mine <= yours or yours <= mine


def _same_numbers(mine: Sequence[Number], yours: Sequence[Number]) -> bool:
    return len(mine) == len(yours) and all(_close(*pair) for pair in zip(mine, yours, strict=True))


def _close(one: Number, other: Number) -> bool:
    if one.percent != other.percent:
        share = next(number for number in (one, other) if number.percent)
        as_share = Number(value=share.value / 100, digits=share.digits + 2)
        rest = other if one.percent else one
        if _close_values(as_share, rest):
            return True
    return _close_values(one, other)


def _close_values(one: Number, other: Number) -> bool:
    if one.value == other.value:
        return True
    if one.whole and other.whole:
        return False  # 10,234 rows are not 10,236
    top, apart = max(abs(one.value), abs(other.value)), abs(one.value - other.value)
    if not math.isfinite(apart) or top == 0:
        return False
    if apart <= 0.5 * 10.0 ** (math.floor(math.log10(top)) - SIGNIFICANT + 1):
        return True
    coarse = min(one, other, key=lambda number: number.digits)
    return _is_rounded(coarse) and apart <= 0.5 * 10.0**-coarse.digits * (1 + 1e-9)


def _is_rounded(number: Number) -> bool:
    """Check for enough digits to equate ``0.38`` with ``0.3838``, or ``29.7`` with ``29.699``."""
    if number.digits == 0 or number.value == 0:
        return False
    significant = math.floor(math.log10(abs(number.value))) + 1 + number.digits
    return significant >= (2 if number.digits > 1 else 3)


def _same_words(mine: Sequence[Row], yours: Sequence[Row]) -> bool:
    """Compare results without numbers: equal words, or a name at the end of the other's only line."""
    short, long = sorted(([word for row in rows for word in row.words] for rows in (mine, yours)), key=len)
    if short == long:
        return True
    one_line = len(mine) == len(yours) == 1
    return one_line and 0 < len(short) <= MAX_NAME_WORDS and long[-len(short) :] == short


# --- reading -----------------------------------------------------------------------------------------


def _is_picture(output: Output) -> bool:
    if output["output_type"] not in ("display_data", "execute_result"):
        return False
    data = output["data"]
    chart = INTERACTIVE_MIME in data and data[INTERACTIVE_MIME].get("kind", "html") != "html"
    return chart or any(kind.startswith("image/") for kind in data)


def _shown(output: Output) -> tuple[str, str]:
    """Return (HTML, plain text) of an output that is a result and no picture."""
    if output["output_type"] == "stream":
        return "", output["text"] if output["name"] == "stdout" else ""
    if output["output_type"] == "error" or _is_picture(output):
        return "", ""
    html, plain = (joined(output["data"].get(kind, "")) for kind in ("text/html", "text/plain"))
    return html, plain


def _rows_of_text(text: str) -> Iterator[Row]:
    """Yield the rows of a text; successive lines that are divided into cells are a table."""
    table: list[list[str]] = []
    text = _MIDNIGHT.sub("", text.translate(_RULES))
    lines = (_TYPED.sub(r"\1", line).strip() for line in text.split("\n"))
    for line in lines:
        cells = [cell for cell in _CELLS.split(line) if cell.strip()]
        if len(cells) > 1:
            if not _FOOTER.match(line):
                table.append(cells)
            continue
        yield from _rows_of_cells(table)
        table = []
        if line and not _FOOTER.match(line) and re.search(r"\w", line):
            yield from _rows_of_line(line)
    yield from _rows_of_cells(table)


def _rows_of_line(line: str) -> list[Row]:
    """Return the rows of a line: two with keys for ``a: 1, b: 2``, one for a sentence."""
    pairs = [(name, value) for name, value in _NAMED.findall(line)]
    if not pairs:
        matches = [_PAIR.fullmatch(piece) for piece in _PIECES.split(line)]
        pairs = [(match["key"], match["value"]) for match in matches if match is not None]
        if len(pairs) < len(matches) or any(len(_numbers(value)) != 1 for _, value in pairs):
            return [Row(numbers=_numbers(line), words=_words(line))]
    return [_pair(key, value) for key, value in pairs]


def _pair(key: str, value: str) -> Row:
    """Return the row of a key and its value.

    Words before the number belong to its key (``Top carrier: UA (58665)``), those behind it are units.
    """
    numbers = _numbers(value)
    before = _NUMBER.split(value, maxsplit=1)[0]
    words = (*_words(key, numbers=True), *_words(before))
    return Row(numbers=numbers, words=words, keyed=bool(words and numbers))


def _rows_of_cells(table: Sequence[Sequence[str]]) -> list[Row]:
    """Return a row for each table row, without a numbering from 0: that is a frame's default index."""
    rows = [list(row) for row in table]
    body = [row for row in rows if any(_is_number(cell) for cell in row)]
    if body and [row[0] for row in body] == [str(at) for at in range(len(body))]:
        body_ids = {id(row) for row in body}
        rows = [row[1:] if id(row) in body_ids else row for row in rows]
    return [_row_of_cells(row) for row in rows]


def _row_of_cells(cells: Sequence[str]) -> Row:
    numbers = tuple(number for cell in cells if _is_number(cell) for number in _numbers(cell))
    words = tuple(word for cell in cells if not _is_number(cell) for word in _words(cell, numbers=True))
    return Row(numbers=numbers, words=words, keyed=bool(words and numbers))


def _is_number(cell: str) -> bool:
    match = _NUMBER.fullmatch(cell.strip())
    return match is not None and bool(match["value"])


def _numbers(text: str) -> tuple[Number, ...]:
    return tuple(_number(match) for match in _NUMBER.finditer(text) if re.search(r"\d", match["value"]))


def _number(match: re.Match[str]) -> Number:
    written = match["value"].replace(",", "").replace("\u2212", "-")
    exponent = "e" in written.lower()
    digits = 0 if exponent else len(match["digits"] or ".") - 1
    return Number(
        value=float(written),
        digits=digits,
        whole=match["digits"] is None and not exponent,
        percent=match["percent"] is not None,
    )


def _words(text: str, *, numbers: bool = False) -> tuple[str, ...]:
    """Return the words in lower case, without filler words.

    With `numbers`, numbers count as words, as in a key: ``1st class``, ``2019``.
    """
    found = (word.casefold() for word in _WORD.findall(text if numbers else _NUMBER.sub(" ", text)))
    return tuple(_SAME_WORD.get(word, word) for word in found if not _FILLER.fullmatch(word))
