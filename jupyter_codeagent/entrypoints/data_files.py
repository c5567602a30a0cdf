"""The notebook that `ask` and `explore` of the command line execute: one cell loads the files, one asks."""

from __future__ import annotations

import csv
import keyword
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from jupyter_codeagent.types.errors import UsageError

READERS = {
    ".csv": "pd.read_csv({path!r}{dates})",
    ".tsv": "pd.read_csv({path!r}, sep='\\t'{dates})",
    ".parquet": "pd.read_parquet({path!r})",
    ".json": "pd.read_json({path!r})",
    ".jsonl": "pd.read_json({path!r}, lines=True)",
    ".feather": "pd.read_feather({path!r})",
    ".xlsx": "pd.read_excel({path!r})",
}
"""File suffix -> how the file is loaded in the user's own kernel."""
SEPARATORS = {".csv": ",", ".tsv": "\t"}
LOOKED_AT_ROWS = 1000
"""Rows at the beginning of a text file; where a later one has something else, pandas leaves the column as text."""
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
    for file in files:
        if not file.is_file():
            raise UsageError(f"There is no file {str(file)!r}.")
        if file.suffix not in READERS:
            raise UsageError(f"{file.name}: files ending in {', '.join(READERS)} can be read, not {file.suffix!r}.")
        lines.append(f"{variable_name(file.stem)} = {_reading_code(file)}")
    notebook = v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [
        v4.new_code_cell("%load_ext jupyter_codeagent\n" + "\n".join(lines)),
        v4.new_code_cell(source),
    ]
    return notebook


def variable_name(stem: str) -> str:
    """Return ``data_2024_sales_eu`` for ``2024 sales-eu``: a valid name from which the file can be recognised."""
    name = "".join(letter if letter.isalnum() else "_" for letter in stem).strip("_")
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"data_{name}"


def _reading_code(file: Path) -> str:
    dates = date_columns(file, SEPARATORS[file.suffix]) if file.suffix in SEPARATORS else ()
    return READERS[file.suffix].format(path=str(file), dates=f", parse_dates={list(dates)!r}" if dates else "")


def date_columns(file: Path, separator: str) -> tuple[str, ...]:
    """Return the columns of a text file that hold ISO dates and nothing else in its first rows.

    pandas reads them as text unless it is told. Other forms of dates are left to the user: 03/04 is in March or in
    April. A file that is no table of text has none, and the cell that loads it says what is wrong.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            lines = csv.reader(opened, delimiter=separator)
            names = next(lines, [])
            rows = [line for line in islice(lines, LOOKED_AT_ROWS) if line]
    except (OSError, UnicodeDecodeError, csv.Error):
        return ()
    if any(len(row) != len(names) for row in rows):
        return ()  # pandas takes the first of too many values for an index, which moves the names
    columns = zip(names, zip(*rows, strict=True), strict=False)
    return tuple(name for name, values in columns if name and names.count(name) == 1 and _are_iso_dates(values))


def _are_iso_dates(values: Sequence[str]) -> bool:
    present = [value for value in values if value]
    is_one_form = len({re.sub(r"\d+", "0", value) for value in present}) == 1
    return is_one_form and all(map(_ISO_DATE.fullmatch, present))
