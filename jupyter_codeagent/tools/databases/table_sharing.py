"""Tables and columns of a database that queries may read, where the user shares only some.

A query is checked to read no others, and gets a WITH in front in which each table has the shared columns alone. The
others do not exist for it, neither by ``*`` nor in conditions, orders, groups or catalogs.

"""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jupyter_codeagent.tools.databases.statements import Statement, checked
from jupyter_codeagent.types.errors import UsageError

Wanted = Mapping[str, Sequence[str] | None] | Sequence[str]
"""``{"flights": ["origin", "dep_delay"], "sales.planes": None}``; None, or a table in a list: all columns."""
WITH = re.compile(r"(?i)\Awith\b\s*(?:recursive\b\s*)?")
HAS_HINTS = {
    "postgresql": True,
    "duckdb": True,
    "sqlite": sqlite3.sqlite_version_info >= (3, 35),
}
"""Whether a WITH may say how it is computed."""
PROCESS = secrets.token_hex(8)


def in_braces(name: str) -> str:
    """Return how queries name a frame of the user's where a table could have its name."""
    return f"{{{name}}}"


@dataclass(frozen=True, kw_only=True)
class KnownTable:
    """A table or view as the database has it."""

    source: tuple[str, ...]
    """Its whole name: schema and table, in DuckDB the database before them."""
    columns: Mapping[str, str]
    """Name -> type, as the database names it."""
    query: str = ""
    """A query of the user's that makes it (`own_queries.py`); else the database has it under its name."""


@dataclass(frozen=True, kw_only=True)
class SharedTable:
    """One table or view that queries may read."""

    name: str
    """Under which queries read it."""
    source: tuple[str, ...]
    columns: tuple[str, ...]
    types: Mapping[str, str] = field(default_factory=dict)
    """Of the columns, as the database names them."""
    query: str = ""
    """See `KnownTable.query`."""

    @property
    def own_name(self) -> str:
        """Name of the user's query in front of a checked one, which cannot know it: it has columns not shared."""
        return f"{self.name} {PROCESS}"


@dataclass(frozen=True, kw_only=True)
class SharedTables:
    """All of one function; `by_name` has the names as the database compares them."""

    by_name: Mapping[str, SharedTable]
    dialect: str

    def listed(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield each table with its columns."""
        return ((table.name, table.columns) for table in self.by_name.values())

    def check(self, statement: Statement) -> None:
        """Check that the statement reads shared tables only.

        Raises
        ------
        PermissionError
        """
        for table in sorted(statement.outer):
            if len(table) != 1 or table[0] not in self.by_name:
                names = ", ".join(one.name for one in self.by_name.values())
                raise PermissionError(f"there is no table {'.'.join(table)[:60]!r}; tables: {names[:300]}")
        if taken := sorted(statement.named & {*self.by_name}):
            raise PermissionError(f"{taken[0][:60]} is a table: give the WITH another name")

    def narrowed(self, statement: Statement) -> str:
        """Return the statement with the tables that it reads defined in front of it."""
        used = [table for name, table in self.by_name.items() if (name,) in statement.outer]
        if not used:
            return statement.text
        # First those of the user: none of them may find another table under its name.
        own = [self._own_definition(table) for table in used if table.query]
        definitions = ", ".join([*own, *map(self._definition, used)])
        begun = WITH.match(statement.text)
        if begun is None:
            return f"WITH {definitions} {statement.text}"
        return f"{begun[0].rstrip()} {definitions}, {statement.text[begun.end() :]}"

    def _definition(self, table: SharedTable) -> str:
        columns = ", ".join(map(self._quoted, table.columns))
        source = ".".join(map(self._quoted, [table.own_name] if table.query else table.source))
        return f"{self._quoted(table.name)} AS {self._hint}(SELECT {columns} FROM {source})"  # noqa: S608  (quoted)

    def _own_definition(self, table: SharedTable) -> str:
        return f"{self._quoted(table.own_name)} AS {self._hint}(\n{table.query}\n)"  # it may end with a comment

    @property
    def _hint(self) -> str:
        # A WITH that is used twice would else be computed whole, without the conditions around it.
        return "NOT MATERIALIZED " if HAS_HINTS.get(self.dialect) else ""

    def _quoted(self, name: str) -> str:
        quote = "`" if self.dialect in ("mysql", "mariadb", "spark") else '"'
        return f"{quote}{name.replace(quote, quote * 2)}{quote}"


def checked_statement(
    sql: str, dialect: str, shared: SharedTables | None, *, own: frozenset[str] = frozenset()
) -> Statement:
    """Check a statement that nobody is asked about, or that may read shared tables only; see `checked`.

    Raises
    ------
    PermissionError
    """
    if shared is None:
        return checked(sql, dialect, own=own)
    statement = checked(sql, dialect, own=own, with_catalogs=False)
    shared.check(statement)
    return statement


def shared_tables(
    wanted: Wanted,
    dialect: str,
    find: Callable[[Sequence[str]], Sequence[KnownTable]],
    *,
    option: str = "tables=",
) -> SharedTables:
    """Return the tables that the user shares.

    Parameters
    ----------
    find
        Returns the tables of a name, given by its parts.
    option
        How the user gave them, for errors.

    Raises
    ------
    UsageError
        There is no such table or column, or two tables would have the same name.
    """
    if isinstance(wanted, str) or not wanted:
        raise UsageError(f"{option}{wanted!r}: give names, or names with their columns: {{'flights': ['origin']}}.")
    ignores_case = dialect in ("sqlite", "duckdb", "spark", "polars")
    by_name: dict[str, SharedTable] = {}
    for name in wanted:
        found = find(name.split("."))
        if len(found) != 1:
            what = f"{len(found)} tables have this name; write schema.table" if found else "there is no such table"
            raise UsageError(f"{option}{name!r}: {what}.")
        columns = found[0].columns
        labels = wanted[name] if isinstance(wanted, Mapping) else None
        label = found[0].source[-1]
        key = label.lower() if ignores_case else label
        if key in by_name:
            raise UsageError(f"{option}{name!r}: {label} is there twice, and queries could not tell which.")
        by_name[key] = SharedTable(
            name=label,
            source=found[0].source,
            columns=_columns(f"{option}{name!r}", labels, [*columns], ignores_case=ignores_case),
            types=columns,
            query=found[0].query,
        )
    return SharedTables(by_name=by_name, dialect=dialect)


def _columns(
    table: str, labels: Sequence[str] | None, known: Sequence[str], *, ignores_case: bool
) -> tuple[str, ...]:
    if labels is None:
        return tuple(known)
    if isinstance(labels, str) or not labels:
        raise UsageError(f"{table}: give a list of columns, or None for all, not {labels!r}.")
    by_key = {name.lower() if ignores_case else name: name for name in known}
    keys = [label.lower() if ignores_case else label for label in labels]
    if missing := [label for label, key in zip(labels, keys, strict=True) if key not in by_key]:
        raise UsageError(f"{table} has no column {missing[0]!r}; it has {', '.join(known)[:300]}.")
    return tuple(dict.fromkeys(by_key[key] for key in keys))
