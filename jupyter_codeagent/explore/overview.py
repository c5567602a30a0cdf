"""A table as a whole: its columns as a program shows them, and what is said of its rows, keys, types and gaps."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jupyter_codeagent.explore.figures import are_duplicates, percent, whole
from jupyter_codeagent.explore.names import listed, name_in_words
from jupyter_codeagent.explore.programs.draft import MOST_ROWS, free_name, literal, with_index
from jupyter_codeagent.explore.ranking import follows
from jupyter_codeagent.explore.wide_columns import WideColumns, are_of_one_variable, wide_columns
from jupyter_codeagent.explore.words import words
from jupyter_codeagent.types.exploration import Exploration, Finding, Library, TableOverview
from jupyter_codeagent.types.sizes import counted

MOST_NAMED = 4
MOST_LISTED = 60
"""Columns that the program shows one by one."""


def overview_words(exploration: Exploration, table: str) -> tuple[str, ...]:
    """Return what is said of a table, a sentence for each thing; nothing if the report does not have it."""
    one = exploration.overview(table)
    if one is None:
        return ()
    findings = [finding for finding in exploration.findings if finding.table == table]
    wide = wide_columns([column.name for column in one.columns])
    said = [
        _size(one),
        _key(one),
        _dates(one),
        *_wide(wide, one.library),
        *_types(findings),
        *_absence(one),
        *_infinite(one),
        *_tails(findings),
        *_alike(findings, wide),
    ]
    if one.repeated_rows:
        said.append(f"{counted(one.repeated_rows, 'row')} {are_duplicates(one.repeated_rows)} of an earlier row.")
    if one.sampled:
        said.append(f"Relations between columns were examined in a sample of {whole(one.sampled)} rows.")
    return tuple(sentence for sentence in said if sentence)


def _size(one: TableOverview) -> str:
    looked_at = len(one.columns) - len(one.index)
    columns = max(one.labels, looked_at)
    seen = "" if looked_at == columns else f", of which {_seen(looked_at)} examined"
    indexed = f", indexed by {listed([name_in_words(name) for name in one.index])}" if one.index else ""
    return f"{one.table} has {counted(one.rows, 'row')} and {counted(columns, 'column')}{seen}{indexed}."


def _seen(columns: int) -> str:
    return "1 was" if columns == 1 else f"{columns:,} were"


def _key(one: TableOverview) -> str:
    keys = [" with ".join(name_in_words(name) for name in key) for key in one.keys]
    if not keys:
        return ""
    return f"Unique key{'s' if len(keys) > 1 else ''}: {listed(keys)}."


def _dates(one: TableOverview) -> str:
    if one.dates is None:
        return ""
    return f"{name_in_words(one.dates.column)} runs from {one.dates.first[:10]} to {one.dates.last[:10]}."


def _types(findings: list[Finding]) -> list[str]:
    said = []
    for meant, noun in (("date", "dates"), ("number", "numbers")):
        names = [one.columns[0] for one in findings if one.kind == "text_type" and one.text("meant") == meant]
        if names:
            said.append(f"{_several(names)} {'holds' if len(names) == 1 else 'hold'} {noun} as text.")
    return said


def _absence(one: TableOverview) -> list[str]:
    lacking = sorted((column for column in one.columns if column.missing), key=lambda column: -column.missing)
    if not lacking:
        return ["No values are missing."] if one.columns and one.rows and len(one.columns) >= one.labels else []
    shares = [
        f"{name_in_words(column.name)} ({_share(column.missing, one.rows)} %)" for column in lacking[:MOST_NAMED]
    ]
    more = len(lacking) - len(shares)
    texts = [*shares, f"{counted(more, 'more column')}"] if more else shares
    return [f"Values are missing in {listed(texts)}."]


def _infinite(one: TableOverview) -> list[str]:
    names = [column.name for column in one.columns if column.infinite]
    return [f"{_several(names)} {'has' if len(names) == 1 else 'have'} infinite values."] if names else []


def _share(missing: int, rows: int) -> str:
    shown = percent(missing / max(rows, 1))
    return "under 0.1" if shown == "0" else shown


def _tails(findings: list[Finding]) -> list[str]:
    return [words(one).line for one in findings if one.kind == "skew"][:MOST_NAMED]


def _wide(wide: Sequence[WideColumns], library: Library) -> list[str]:
    method = "unpivot" if library == "polars" else "melt"
    return [
        f"{len(one.names)} columns are {one.noun}, {name_in_words(one.names[0])} to "
        f"{name_in_words(one.names[-1])}: `{method}` turns them into rows that can be explored."
        for one in wide
    ]


def _alike(findings: list[Finding], wide: Sequence[WideColumns]) -> list[str]:
    """Say which numbers follow each other, a sentence for each number that others follow."""
    pairs = [one.columns for one in findings if follows(one) and not are_of_one_variable(one.columns, wide)]
    links: dict[str, list[str]] = {}
    for a, b in pairs:
        links.setdefault(a, []).append(b)
        links.setdefault(b, []).append(a)
    said, told = [], set[str]()
    for name in sorted(links, key=lambda name: -len(links[name])):
        others = [other for other in links[name] if other not in told]
        if name not in told and others:
            told |= {name, *others}
            said.append(f"{_several([name, *others])} carry nearly the same information.")
    return said[:MOST_NAMED]


def _several(names: list[str]) -> str:
    shown = [name_in_words(name) for name in names[:MOST_NAMED]]
    more = len(names) - len(shown)
    return listed([*shown, counted(more, "more column")] if more else shown)


def overview_program(overview: TableOverview, taken: Collection[str] = (), leave_out: Collection[str] = ()) -> str:
    """Return the program that shows one line for each column: type, missing values, distinct values, an example.

    Parameters
    ----------
    taken
        Names of the user's, which the program does not assign to.
    leave_out
        Personal columns, of which no value is shown.
    """
    taken = {*taken, overview.table}
    name, known = free_name("columns", taken), free_name("known", taken)
    first = f"# {_size(overview)}"
    listed_columns = overview.columns[:MOST_LISTED]
    hidden = [one.name for one in listed_columns if one.name in leave_out]
    table = overview.table
    part, some = "", table
    if overview.index:
        table = some = free_name("plain", taken)
        part = f"{table} = {with_index(overview)}\n"
    if len(listed_columns) < max(overview.labels + len(overview.index), len(overview.columns)):
        some = free_name("some", taken)
        part += f"{some} = {table}[{_literals([one.name for one in listed_columns])}]\n"
    if overview.library == "polars":
        code = _polars(overview, (some, name, known), part, hidden)
    else:
        code = _pandas(overview, (some, name), part, hidden)
    return f"{first}\n{code}\n"


def _pandas(overview: TableOverview, names: tuple[str, str], part: str, hidden: list[str]) -> str:
    table, name = names
    uncounted = [one.name for one in overview.columns if one.role == "other" and one.type == "object"]
    return f"""import pandas as pd

{part}{name} = pd.DataFrame({{
    "type": {table}.dtypes.astype(str),
    "missing %": (100 * {table}.isna().mean()).round(1),
    "distinct": {table}{_without(uncounted)}.nunique(),
    "values": {table}{_without(hidden)}.apply(
        lambda column: f"{{column.min()}} to {{column.max()}}"
        if column.dtype.kind in "iufM"
        else str(next(iter(column.dropna()), ""))
    ),
}}).loc[{table}.columns]
{name}"""


def _without(names: list[str]) -> str:
    return f".drop(columns={_literals(names)})" if names else ""


def _literals(names: list[str]) -> str:
    return f"[{', '.join(literal(name) for name in names)}]"


def _polars(overview: TableOverview, names: tuple[str, str, str], part: str, hidden: list[str]) -> str:
    table, name, known = names
    shown = f'"" if column.name in {_literals(hidden)} else ' if hidden else ""
    code = f"""import polars as pl

{part}{known} = [column.drop_nulls() for column in {table}.fill_nan(None)]
{name} = pl.DataFrame({{
    "column": {table}.columns,
    "type": [str(column.dtype) for column in {known}],
    "missing %": [round(100 - 100 * len(column) / max(len({table}), 1), 1) for column in {known}],
    "distinct": [column.n_unique() for column in {known}],
    "values": [
        {shown}f"{{column.min()}} to {{column.max()}}"
        if column.dtype.is_numeric() or column.dtype.is_temporal()
        else str(next(iter(column), ""))
        for column in {known}
    ],
}})
"""
    if len(overview.columns) > MOST_ROWS["polars"]:
        return f"{code}with pl.Config(tbl_rows=-1):\n    display({name})"
    return f"{code}{name}"
