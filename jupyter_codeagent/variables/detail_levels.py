"""Write one variable for the prompt at several levels of detail, from all columns with statistics to its name."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from jupyter_codeagent.types.variables import ColumnSummary, VariableSummary
from jupyter_codeagent.variables.mentions import label_text

FIRST_COLUMNS = 40
FEW_COLUMNS = 12
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_DIGITS = re.compile(r"\d+")
_NUMBER = r"(-?\d++(?:\.\d++)?(?:e[+-]?\d++)?)"
_RANGE = re.compile(rf"{_NUMBER}\.\.{_NUMBER}")


def _full(summary: VariableSummary, mentioned: frozenset[int]) -> str:
    # Indented, so that text from data never starts a line.
    rows = "\n rows:" + "".join(f"\n  {row}" for row in summary.rows.split("\n")) if summary.rows else ""
    return _head(summary) + "".join(f"\n {_line(column)}" for column in summary.columns) + rows


def _without_examples(summary: VariableSummary, mentioned: frozenset[int]) -> str:
    return _head(summary) + "".join(f"\n {_line(replace(column, example=''))}" for column in summary.columns)


def _collapsed(summary: VariableSummary, mentioned: frozenset[int]) -> str:
    return _head(summary) + "".join(
        f"\n {_run_line(summary.columns, run)}" for run in column_runs(summary.columns, mentioned)
    )


def _by_type(summary: VariableSummary, mentioned: frozenset[int]) -> str:
    """Write one line with the names of each type; columns that the prompt names keep their statistics."""
    named = _mentioned_lines(summary, mentioned)
    rest: dict[str, list[str]] = {}
    for run in column_runs(summary.columns, mentioned):
        if run[0] not in mentioned:
            rest.setdefault(summary.columns[run[0]].dtype, []).append(_run_name(summary.columns, run))
    return _one_line(summary, [*named, *(f"{dtype} {', '.join(names)}" for dtype, names in rest.items())])


def _first(summary: VariableSummary, mentioned: frozenset[int]) -> str:
    return _first_names(summary, mentioned, FIRST_COLUMNS)


def _few(summary: VariableSummary, mentioned: frozenset[int]) -> str:
    return _first_names(summary, mentioned, FEW_COLUMNS)


def _size(summary: VariableSummary, mentioned: frozenset[int]) -> str:
    return _first_names(summary, mentioned, 0)


Form = Callable[[VariableSummary, frozenset[int]], str]
"""(summary, positions of the columns that the prompt names) -> text."""
DETAIL_LEVELS: tuple[tuple[Form, str], ...] = (
    (_full, ""),
    (_without_examples, "no examples"),
    (_collapsed, "similar columns together"),
    (_by_type, "names and types"),
    (_first, f"names, {FIRST_COLUMNS} at most"),
    (_few, f"names, {FEW_COLUMNS} at most"),
    (_size, "kind and size"),
)
"""(form, its label for the user), the most detailed first."""
COLLAPSED, BRIEF = 2, 3
"""Levels from which similar columns share a line, and from which a variable has at most one line."""


def _first_names(summary: VariableSummary, mentioned: frozenset[int], limit: int) -> str:
    """Write the names of `limit` columns, those that the prompt names first, and the number of the rest."""
    parts = _mentioned_lines(summary, frozenset(sorted(mentioned)[: max(limit, FEW_COLUMNS)]))
    others = [at for at in range(len(summary.columns)) if at not in mentioned][: max(limit - len(parts), 0)]
    if others:
        parts.append(", ".join(column_label(summary.columns[at].name) for at in others))
    listed = len(others) + min(len(mentioned), max(limit, FEW_COLUMNS))
    more = len(summary.columns) - listed
    if more:
        parts.append(f"… +{more}, see {summary.name}.columns" if listed else f"see {summary.name}.columns")
    return _one_line(summary, parts)


def _one_line(summary: VariableSummary, parts: Sequence[str]) -> str:
    if not summary.columns:
        return f"{summary.name}: {summary.type_name}"
    return f"{summary.headline}: {'; '.join(parts)}"


def _mentioned_lines(summary: VariableSummary, mentioned: frozenset[int]) -> list[str]:
    return [_line(replace(summary.columns[at], example="")) for at in sorted(mentioned)]


def _head(summary: VariableSummary) -> str:
    return (
        f"{summary.headline} (figures from a sample)" if summary.sampled and summary.columns else summary.headline
    )


def _line(column: ColumnSummary) -> str:
    parts = [column_label(column.name), column.dtype, column.statistics]
    if column.example:
        parts.append(f"e.g. {column.example}")
    parts.append(column.missing)
    return " ".join(part for part in parts if part)


def column_label(quoted: str) -> str:
    """Return a plain word bare, which saves two tokens, and other labels as `repr`, so that data reads as data."""
    text = label_text(quoted)
    bare = quoted == f"'{text}'" and _BARE.fullmatch(text) and not keyword.iskeyword(text)
    return text if bare else quoted


def column_runs(columns: Sequence[ColumnSummary], mentioned: frozenset[int]) -> list[list[int]]:
    """Group adjacent columns of one type whose names differ in a number only: ``m01..m12``.

    A column that the prompt names is a group by itself.
    """
    runs: list[list[int]] = []
    last: tuple[str, str] | None = None
    for at, column in enumerate(columns):
        pattern = (_DIGITS.sub("#", column.name), column.dtype) if at not in mentioned else None
        if pattern is not None and pattern == last and pattern[0] != column.name:
            runs[-1].append(at)
        else:
            runs.append([at])
        last = pattern
    return runs


def _run_name(columns: Sequence[ColumnSummary], run: Sequence[int]) -> str:
    first = column_label(columns[run[0]].name)
    return first if len(run) == 1 else f"{first}..{column_label(columns[run[-1]].name)} ({len(run)})"


def _run_line(columns: Sequence[ColumnSummary], run: Sequence[int]) -> str:
    """Write what is true of all columns of the run."""
    together = [columns[at] for at in run]
    if len(together) == 1:
        return _line(replace(together[0], example=""))
    missing = {column.missing for column in together}
    parts = [_run_name(columns, run), together[0].dtype, _together([column.statistics for column in together])]
    parts.append(missing.pop() if len(missing) == 1 else "some missing")
    return " ".join(part for part in parts if part)


def _together(stats: Sequence[str]) -> str:
    """Return the range over all ranges; other statistics only where they are equal."""
    if len(set(stats)) == 1:
        return stats[0]
    ranges = [_RANGE.fullmatch(text) for text in stats]
    found = [one.groups() for one in ranges if one is not None]
    if len(found) < len(stats):
        return ""
    low = min((low for low, _ in found), key=float)
    return f"{low}..{max((high for _, high in found), key=float)}"


def without_values(summary: VariableSummary) -> VariableSummary:
    """Reduce a summary to names and types, as under the privacy mode ``schema``."""
    columns = tuple(replace(column, stats="", example="", missing="") for column in summary.columns)
    return replace(summary, headline=summary.bare_headline, columns=columns, rows="")
