"""The notebook that `ask` and `explore` of the command line execute: one cell loads the files, one asks."""

from __future__ import annotations

import codecs
import csv
import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

from jupyter_codeagent.types.errors import UsageError

READERS = {
    ".csv": "pd.read_csv",
    ".tsv": "pd.read_csv",
    ".parquet": "pd.read_parquet",
    ".json": "pd.read_json",
    ".jsonl": "pd.read_json",
    ".feather": "pd.read_feather",
    ".xlsx": "pd.read_excel",
}
"""File suffix -> the function that loads the file in the user's own kernel."""
SEPARATORS = {".csv": (",", ";", "\t", "|"), ".tsv": ("\t",)}
"""Suffix of a text file -> what may stand between its values."""
USED_NAMES = ("pd", "get_ipython", "exit", "quit", "In", "Out")
"""Names that the notebook needs itself."""
LOOKED_AT_ROWS = 1000
"""Rows at the beginning of a text file; where a later one has something else, pandas leaves the column as text."""
CHUNK_BYTES = 1 << 20
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z?)?")


def notebook_of(files: Sequence[Path], source: str) -> Any:
    """Return a notebook with one cell that loads the files, and one with this source.

    Raises
    ------
    UsageError
        A file is missing or of an unknown kind.
    """
    from nbformat import v4

    lines = ["import pandas as pd", ""]
    for file, name in zip(files, variable_names(files), strict=True):
        if not file.is_file():
            raise UsageError(f"There is no file {str(file)!r}.")
        if file.suffix.lower() not in READERS:
            raise UsageError(f"{file.name}: files ending in {', '.join(READERS)} can be read, not {file.suffix!r}.")
        lines.append(f"{name} = {_reading_code(file)}")
    notebook = v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [
        v4.new_code_cell("%load_ext jupyter_codeagent\n" + "\n".join(lines)),
        v4.new_code_cell(source),
    ]
    return notebook


def variable_names(files: Sequence[Path]) -> tuple[str, ...]:
    """Return a different name for each file: ``sales, sales_2`` for ``2023/sales.csv 2024/sales.csv``."""
    names: list[str] = []
    for file in files:
        name = _variable_name(file.stem)
        further = (f"{name}_{number}" for number in count(2))
        names.append(next(one for one in chain([name], further) if one not in (*names, *USED_NAMES)))
    return tuple(names)


def _variable_name(stem: str) -> str:
    """Return ``data_2024_sales_eu`` for ``2024 sales-eu``: a valid name from which the file can be recognised."""
    name = "".join(letter if letter.isalnum() else "_" for letter in stem).strip("_")
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"data_{name}"


@dataclass(frozen=True, kw_only=True)
class TextForm:
    """How a text file is written, as far as pandas has to be told."""

    separator: str
    encoding: str = ""
    """Empty for UTF-8."""
    has_decimal_commas: bool = False
    codes: tuple[str, ...] = ()
    """Columns of digits with leading zeros in the first rows, which numbers would lose."""
    dates: tuple[str, ...] = ()
    """Columns that hold ISO dates and nothing else in the first rows: pandas would leave them as text."""

    @property
    def arguments(self) -> Iterator[str]:
        """What ``pd.read_csv`` is told beside the path."""
        if self.separator != ",":
            yield f"sep={self.separator!r}"
        if self.has_decimal_commas:
            yield "decimal=','"
        if self.encoding:
            yield f"encoding={self.encoding!r}"
        if self.codes:
            yield f"dtype={dict.fromkeys(self.codes, 'str')!r}"
        if self.dates:
            yield f"parse_dates={list(self.dates)!r}"


def _reading_code(file: Path) -> str:
    suffix = file.suffix.lower()
    told: Iterable[str] = ("lines=True",) if suffix == ".jsonl" else ()
    if suffix in SEPARATORS:
        told = text_form(file, SEPARATORS[suffix]).arguments
    return f"{READERS[suffix]}({', '.join([repr(str(file)), *told])})"


def text_form(file: Path, separators: Sequence[str]) -> TextForm:
    """Return how a text file is written, by its first rows; the first of the separators if none divides them.

    Other forms of dates are left to the user: 03/04 is in March or in April. If the file is no table of text, the
    cell that loads it says what is wrong.
    """
    encoding = _encoding(file)
    tables = [(one, _first_rows(file, one, encoding)) for one in separators]
    separator, (names, *rows) = max(tables, key=lambda table: len(table[1][0]) if _is_table(table[1]) else 0)
    if not _is_table([names, *rows]):
        # pandas would take the first of too many values for an index, which moves the names.
        return TextForm(separator=separators[0], encoding=encoding)
    columns = [(name, values) for name, values in zip(names, zip(*rows, strict=True), strict=False) if name]
    return TextForm(
        separator=separator,
        encoding=encoding,
        has_decimal_commas=separator != "," and any(_are_decimals(values) for _, values in columns),
        codes=tuple(name for name, values in columns if names.count(name) == 1 and _are_codes(values)),
        dates=tuple(name for name, values in columns if names.count(name) == 1 and _are_iso_dates(values)),
    )


def _encoding(file: Path) -> str:
    """Return the encoding of a file that is not in UTF-8: by its first bytes, else that of Windows in the West."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with file.open("rb") as opened:
            beginning = opened.read(CHUNK_BYTES)
            if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return "utf-16"
            decoder.decode(beginning)
            while chunk := opened.read(CHUNK_BYTES):
                decoder.decode(chunk)
    except UnicodeDecodeError:
        return "cp1252"
    except OSError:
        pass  # the cell that loads it says so
    return ""


def _first_rows(file: Path, separator: str, encoding: str) -> list[list[str]]:
    """Return the names and the first rows; one without a name if it cannot be read so."""
    try:
        with file.open(encoding=encoding or "utf-8-sig", newline="") as opened:
            lines = csv.reader(opened, delimiter=separator)
            return [next(lines, []), *(line for line in islice(lines, LOOKED_AT_ROWS) if line)]
    except (OSError, UnicodeError, csv.Error):
        return [[]]


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    return all(len(row) == len(rows[0]) for row in rows)


def _are_decimals(values: Sequence[str]) -> bool:
    present = [value.strip() for value in values if value.strip()]
    return bool(present) and all(map(_DECIMAL_COMMA.fullmatch, present))


def _are_codes(values: Sequence[str]) -> bool:
    present = [value for value in values if value]
    return all(map(str.isdecimal, present)) and any(value[0] == "0" and len(value) > 1 for value in present)


def _are_iso_dates(values: Sequence[str]) -> bool:
    present = [value for value in values if value]
    is_one_form = len({re.sub(r"\d+", "0", value) for value in present}) == 1
    return is_one_form and all(map(_ISO_DATE.fullmatch, present))
