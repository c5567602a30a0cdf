"""Describe one column from a bounded sample: what a person would want to know before writing code."""

from __future__ import annotations

import csv
import datetime
import decimal
import fractions
import io
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jupyter_codeagent.types.variables import ColumnSummary, Privacy
from jupyter_codeagent.variables.describers.text_formats import TextFormat, describe_text_format
from jupyter_codeagent.variables.introspection import first, type_name, type_path
from jupyter_codeagent.variables.privacy.pii_columns import personal_kind
from jupyter_codeagent.variables.privacy.secret import private_text
from jupyter_codeagent.variables.text import MAX_NAME_CHARS, looks_personal, number, quoted, safe

MAX_STAT_COLUMNS = 100
"""Columns with statistics; further ones have their name and type only."""
MAX_LISTED = 6
"""Distinct values up to which all are listed."""
MIN_SHARE = 0.01
"""Share of the sample that each listed value must have: rare values can identify single people."""
MAX_SINGLE = 1
"""Listed values that may occur in one row only: [Oslo, Rome, Oslo] are categories, five names are not."""
MIN_SINGLE_SHARE = 0.1
"""Share of the sample that such a row must have: in a longer sample it would be a single person."""
LONG_CHARS = 200
"""Longer text is prose: the description has neither its categories nor an example."""
CHECKED_VALUES = 200
"""Distinct values that are checked for personal or secret ones."""
MIN_PERSONAL_NUMBER = 1_000_000
"""Telephone, card and national numbers are longer."""
PANDAS_TEXT = frozenset({"str", "string", "object"})
_CASES = ("lower", "upper", "title")
LABEL_DEPTH = 3
MAX_ROW_CHARS = 400

_OFFSET = re.compile(r"(?<=\d)[+-]\d\d:\d\d$")
_MIDNIGHT = re.compile(r"[T ]00:00:00(\.0+)?$|\.0+$")
_PLAIN: frozenset[type] = frozenset(
    (
        *(str, int, float, complex, bool, datetime.date, datetime.datetime, datetime.time, datetime.timedelta),
        *(decimal.Decimal, fractions.Fraction, uuid.UUID),
    )
)
_PLAIN_PATHS = frozenset(
    (
        *("pandas.Timestamp", "pandas.Timedelta", "pandas.Period", "pandas.Interval", "numpy.datetime64"),
        *("pandas._libs.tslibs.timestamps.Timestamp", "pandas._libs.tslibs.timedeltas.Timedelta"),
        *("pandas._libs.tslibs.period.Period", "pandas._libs.interval.Interval", "numpy.timedelta64"),
        *("pandas._libs.missing.NAType", "pandas._libs.tslibs.nattype.NaTType", "numpy.str_"),
        *("pandas.api.typing.NAType", "pandas.api.typing.NaTType"),
        *(f"numpy.{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)),
        *("numpy.bool", "numpy.bool_"),
    )
)


@dataclass(frozen=True, kw_only=True)
class DescribedColumn:
    """A column's summary, and whether its values may appear in example rows."""

    summary: ColumnSummary
    may_display_values: bool = False


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What was read of a column."""

    values: Sequence[Any] = field(default=())
    """Values that are not missing, where they are needed one by one: text, objects, whole numbers."""
    low: str = ""
    high: str = ""
    """Range of numbers and instants, as the prompt has it; empty for other kinds."""
    missing: str = ""


def is_plain(value: object) -> bool:
    """Check that `str` of the value is known to be short and harmless: never for a class that the user wrote."""
    return value is None or _is_plain_type(type(value))


def _is_plain_type(kind: type) -> bool:
    return kind in _PLAIN or type_path(kind) in _PLAIN_PATHS


def column_name(label: object, depth: int = LABEL_DEPTH) -> str:
    """Return `repr()` of the label as one safe line; an address or key that became a label is masked."""
    if type(label) is str:
        return "'***'" if private_text(label) else quoted(label, MAX_NAME_CHARS)
    if type(label) is tuple and depth:
        parts = [column_name(part, depth - 1) for part in label]
        return safe(f"({', '.join(parts)}{',' if len(parts) == 1 else ''})", 2 * MAX_NAME_CHARS)
    if type(label) in (int, float, bool) or label is None:
        return repr(label)
    return quoted(str(label), MAX_NAME_CHARS) if is_plain(label) else f"a {safe(type_name(type(label)), 40)}"


def describe_column(label: object, dtype: str, privacy: Privacy, sample: Sample) -> DescribedColumn:
    """Describe a column; by type only where the privacy mode, the label or the values require it."""
    name = column_name(label)
    if by_type_only(label, privacy) or is_personal(label, sample.values):
        return DescribedColumn(summary=ColumnSummary(name=name, dtype=dtype))
    if sample.low:
        summary = ColumnSummary(name=name, dtype=dtype, stats=f"{sample.low}..{sample.high}")
    else:
        summary = _described(ColumnSummary(name=name, dtype=dtype), sample.values)
    return DescribedColumn(summary=replace(summary, missing=sample.missing), may_display_values=True)


def by_type_only(label: object, privacy: Privacy) -> bool:
    """Check whether the privacy mode or the label allows no more than the column's type in the prompt."""
    return privacy == "schema" or (is_plain(label) and looks_personal(label)) or _personal_part(label)


def _personal_part(label: object) -> bool:
    return type(label) is tuple and any(is_plain(part) and looks_personal(part) for part in label)


def is_personal(label: object, values: Sequence[Any]) -> bool:
    """Check whether a sample of the distinct values looks like addresses, telephone numbers or keys."""
    some = values[:: max(1, len(values) // (2 * CHECKED_VALUES))]
    texts = list(dict.fromkeys(str(value) for value in some if _may_identify(value)))
    step = -(-len(texts) // CHECKED_VALUES) or 1
    name = label if is_plain(label) else ""
    return bool(texts) and personal_kind(name, texts[::step]) != ""


def _may_identify(value: object) -> bool:
    return type(value) is str or (type(value) is int and abs(value) >= MIN_PERSONAL_NUMBER)


def missing_text(count: int, total: int, *, sampled: bool) -> str:
    """Return ``11 missing``; of a sample the share, since its count would not be that of all rows."""
    if not count:
        return ""
    return f"{max(count / total, 0.001):.1%} missing" if sampled else f"{count} missing"


def instant(value: Any) -> str:
    """Return a date or time as text, without the offset, which the type has, and without midnight."""
    return _MIDNIGHT.sub("", _OFFSET.sub("", safe(str(value), 40)))


def _described(column: ColumnSummary, values: Sequence[Any]) -> ColumnSummary:
    """Describe text and other objects."""
    kinds = set(map(type, values))
    if not kinds or kinds == {bool}:
        return column
    if not all(map(_is_plain_type, kinds)):
        return replace(column, stats=_nested(values, kinds))
    longest = max((len(value) for value in values if type(value) is str), default=0)
    if longest > LONG_CHARS:
        return replace(column, stats=f"text up to {longest} characters")
    counts = Counter(values if kinds == {str} else map(str, values)).most_common()
    stats, example = describe_categories(counts, len(values))
    if kinds != {str}:
        mixed = f"{'|'.join(sorted(map(type_name, kinds)))} " if len(kinds) > 1 else ""
        return replace(column, stats=f"{mixed}{stats}", example=example)
    form = _text_format(counts, stats, in_pandas=column.dtype in PANDAS_TEXT)
    return replace(
        column, stats=stats + (f", {form.told}" if form.told else ""), reading=form.reading, example=example
    )


def _text_format(counts: Sequence[tuple[str, int]], stats: str, *, in_pandas: bool) -> TextFormat:
    are_listed = stats.startswith("{")
    found = TextFormat() if are_listed else describe_text_format([text for text, _ in counts], in_pandas=in_pandas)
    return found if found.told or not in_pandas else _spellings(counts)


def _nested(values: Sequence[Any], kinds: set[type]) -> str:
    """Return types and keys of lists, dicts, arrays and objects in cells, never their `repr`."""
    if kinds == {dict}:
        keys = dict.fromkeys(key for value in values[:20] for key in first(value, MAX_LISTED) if type(key) is str)
        return f"dict values, keys [{', '.join(column_name(key) for key in list(keys)[:MAX_LISTED])}]"
    names = ", ".join(sorted(safe(type_name(kind), 40) for kind in kinds)[:3])
    if kinds <= {list, tuple, set}:
        inner = sorted({safe(type_name(type(item)), 40) for value in values[:20] for item in first(value, 5)})
        return f"{names} values" + (f" of {', '.join(inner[:3])}" if inner else "")
    return f"{names} values"


def _spellings(counts: Sequence[tuple[str, int]]) -> TextFormat:
    """Tell how many texts remain where case and outer blanks do not count, in the case that most rows have."""
    same = {text.strip().lower() for text, _ in counts}
    if len(same) == len(counts):
        return TextFormat()
    rows = {case: sum(n for text, n in counts if getattr(text.strip(), case)() == text.strip()) for case in _CASES}
    most = max(rows, key=lambda case: rows[case])
    if 2 * rows[most] < sum(number for _, number in counts):
        return TextFormat()
    return TextFormat(told=f"{len(same)} in one spelling", reading=f"x.str.strip().str.{most}()")


def describe_categories(counts: Sequence[tuple[str, int]], total: int) -> tuple[str, str]:
    """Return (statistics, example) for (value, count) pairs, the most frequent first; `total` values in all."""
    if _are_categories(counts, total):
        return "{" + ", ".join(safe(value) for value, _ in counts) + "}", ""
    # Where every value is unique an example would quote a single row.
    example = quoted(counts[0][0]) if counts[0][1] > 1 and not private_text(counts[0][0]) else ""
    return f"{len(counts)}u", example


def _are_categories(counts: Sequence[tuple[str, int]], total: int) -> bool:
    """Check for few values that repeat: in a table of five rows `MIN_SHARE` alone would accept every person."""
    if len(counts) > MAX_LISTED:
        return False
    repeats = len(counts) < total and 2 * len(counts) <= total + 1
    single = sum(count == 1 for _, count in counts)
    share = MIN_SINGLE_SHARE if single else MIN_SHARE
    frequent = counts[-1][1] >= share * total and single <= MAX_SINGLE
    return repeats and frequent and not any(private_text(value) for value, _ in counts)


def column_text(column: ColumnSummary, *, sampled: bool) -> str:
    """Return the statistics of a single column as the end of a headline; a sample is named as such."""
    parts = [column.statistics, f"e.g. {column.example}" if column.example else "", column.missing]
    text = " ".join(part for part in parts if part)
    return f" {text}{' (from a sample)' if sampled else ''}" if text else ""


def harmless(values: Iterable[object]) -> bool:
    """Check that values may appear in example rows: short, of known types, without an address or key."""
    return all(
        is_plain(value) and len(text := str(value)) <= LONG_CHARS and not private_text(text) for value in values
    )


def number_range(low: Any, high: Any) -> tuple[str, str]:
    """Return both ends of a range as short text."""
    return number(low), number(high)


def rows_text(columns: Sequence[tuple[object, Sequence[Any]]]) -> str:
    """Return (label, values) pairs as CSV, without columns whose values are not harmless; '' if none is left."""
    kept = [(label, values) for label, values in columns if harmless(values)]
    if not kept:
        return ""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column_name(label).strip("'") for label, _ in kept])
    writer.writerows(zip(*([_cell(value) for value in values] for _, values in kept), strict=True))
    return "\n".join(safe(line, MAX_ROW_CHARS) for line in text.getvalue().splitlines())


def _cell(value: Any) -> str:
    if value is None or type_name(type(value)) in ("NAType", "NaTType"):
        return ""
    if type(value) is float and value != value:  # noqa: PLR0124 - NaN
        return ""
    # On one line: a value with a line break could start a line of its own, and give the model a task there.
    return f"{value:.6g}" if type(value) is float else safe(str(value), MAX_ROW_CHARS)


def type_text(dtype: object) -> str:
    """Return a library's name for a dtype, without categories, which are values, and without angle brackets."""
    text = str(dtype)
    # `Enum(categories=…)` of polars and `ENUM('a', …)` of DuckDB; `List(Enum(…))` becomes `List`.
    kept = text.partition("(")[0] if "enum(" in text.lower() else text
    return safe(kept.replace("<", "[").replace(">", "]"), MAX_NAME_CHARS)
