"""Certain corrections after an error that comes of text where dates or numbers were meant.

The text is converted where its column is first used. If the column holds other text too, the conversion fails and
nothing is corrected.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from jupyter_codeagent.agent.rules.rule import Fix, Program, with_line_before
from jupyter_codeagent.agent.source import column_of, statement_at
from jupyter_codeagent.types.sandbox import NamespaceEntry

_NO_DATES = re.compile(r"Can only use \.dt accessor with datetimelike values")
_NO_NUMBERS = re.compile(
    r"could not convert string to float: '(?P<text>[^']*)'|Could not convert '(?P<other>[^']*)' to numeric|"
    r"Cannot perform reduction '\w+' with string dtype|does not support operation '(?:mean|median|std|var|sum)'|"
    r"unsupported operand type\(s\) for [-+*/]{1,2}: '\w+' and '\w+'|bad operand type for \w+\(\): 'str'|"
    r"not supported between instances of '(?:str|int|float)' and '(?:str|int|float)'|"
    r"operation 'r?(?:truediv|sub|mul|add)' not supported for dtype 'str'|Can only string multiply by an integer|"
    r"Invalid comparison between dtype=str and (?:int|float|ndarray)|can't multiply sequence by non-int|"
    r"can only concatenate str|no kernel matching input types \(large_string\)"
)
"""What pandas 2 and 3 say of text in arithmetic; what is converted although it should not be fails again."""
_NUMBER_WITH_SIGNS = re.compile(r"\s*[-+]?[$€£¥]?\s?\d[\d,]*(?:\.\d+)?\s?(?:%|(?P<unit>[A-Za-z/]+))?\s*")
UNITS = (
    "lbs", "lb", "kg", "g", "mg", "oz", "km", "mi", "cm", "mm", "ft", "in", "hp", "kw", "mph", "kmh", "km/h", "l",
    "ml", "hrs", "hr", "h", "mins", "min", "secs", "sec", "s", "ms", "days", "years", "yrs", "usd", "eur", "gbp",
)  # fmt: skip
"""Written behind numbers and part of none, unlike k, mn and bn."""
_TEXT_DTYPES = re.compile(r"^(?:object|str|string)", re.IGNORECASE)


def convert_dates(program: Program) -> Fix | None:
    """``df["Date"].dt`` of text: the column becomes dates in the line before."""
    tree, error, namespace = program.tree, program.error, program.namespace
    if error.line is None or not _NO_DATES.search(error.evalue):
        return None
    statement = statement_at(tree, error.line)
    found = {
        (frame, label)
        for node in (ast.walk(statement) if statement is not None else ())
        if isinstance(node, ast.Attribute) and node.attr == "dt" and (column := column_of(node.value)) is not None
        for frame, label in [column]
        if _is_text(frame, label, namespace)
    }
    if statement is None or len(found) != 1:
        return None
    [(frame, label)] = found
    line = f"{frame}[{label!r}] = pd.to_datetime({frame}[{label!r}])"
    return with_line_before(program, statement, line, f"converted {label!r} to dates")


def convert_numbers(program: Program) -> Fix | None:
    """``'5,350,380'`` in arithmetic: the one text column that is used becomes numbers before its first use."""
    tree, error, namespace = program.tree, program.error, program.namespace
    match = _NO_NUMBERS.search(error.evalue)
    if error.line is None or match is None:
        return None
    text = match["text"] or match["other"]
    number = _NUMBER_WITH_SIGNS.fullmatch(text) if text is not None else None
    unit = number["unit"] or "" if number is not None else ""
    if (text is not None and number is None) or (unit and unit.lower() not in UNITS):
        return None  # some of it is no number: what to do with that is not certain
    failing = statement_at(tree, error.line)
    found = _text_columns(failing, namespace) if failing is not None else set()
    found = found or _text_columns(tree, namespace)
    if len(found) != 1:
        return None
    [(frame, label)] = found
    users = (one for one in tree.body if (frame, label) in map(column_of, ast.walk(one)))
    first = next(users, failing)
    if first is None:
        return None
    column = f"{frame}[{label!r}]"
    taken_out = r"[$€£¥,%\s]" + (f"|{unit}" if unit else "")
    line = f'{column} = pd.to_numeric({column}.str.replace(r"{taken_out}", "", regex=True))'
    return with_line_before(program, first, line, f"converted {label!r} to numbers")


def _text_columns(within: ast.AST, namespace: Sequence[NamespaceEntry]) -> set[tuple[str, str]]:
    columns = {column_of(node) for node in ast.walk(within) if isinstance(node, ast.expr)}
    return {column for column in columns if column is not None and _is_text(*column, namespace)}


def _is_text(frame: str, label: str, namespace: Sequence[NamespaceEntry]) -> bool:
    return any(
        entry.name == frame and _TEXT_DTYPES.match(dtype) is not None
        for entry in namespace
        for column, dtype in zip(entry.columns, entry.dtypes, strict=False)
        if column == label
    )
