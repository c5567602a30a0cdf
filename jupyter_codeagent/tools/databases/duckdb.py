"""DuckDB: one SELECT, checked by its own parser, over its tables and views; no file, network or Python variable.

Macros of the user are expanded: their parts are checked as if they were written in the statement. Of queries that
have passed the SQL check (`statements.py`) views are expanded, too, and functions are refused that DuckDB itself
does not have or does not call consistent. Where only some tables are shared, no macro of the user's is allowed.

"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_codeagent.sandbox.data.duckdb_plan import BY_EXTENSION, READERS, split_view
from jupyter_codeagent.tools.databases.estimates import duckdb_rows, json_nodes
from jupyter_codeagent.tools.databases.memory import memory_limited
from jupyter_codeagent.tools.databases.rows import (
    AT_ONCE_BYTES,
    check_size,
    fetched,
    value_bytes,
    with_rows_scanned,
)
from jupyter_codeagent.tools.databases.table_sharing import KnownTable, SharedTables, checked_statement
from jupyter_codeagent.types.errors import VariableError

if TYPE_CHECKING:
    import pandas as pd

Taken = TypeVar("Taken")
VECTORS_AT_ONCE = 32
"""Of 2,048 rows each, where they are small."""
TABLE_FUNCTIONS = frozenset(
    {"range", "generate_series", "unnest", "duckdb_tables", "duckdb_columns", "duckdb_views"}
)
LISTING = frozenset({"duckdb_tables", "duckdb_columns", "duckdb_views"})
REFUSED_FUNCTIONS = frozenset({"write_log", "current_setting", "getvariable", "setseed", "sleep_ms"})
"""Functions that change no table, which a read-only transaction would refuse, but read or write something else."""
REFUSED_VIEWS = frozenset({"duckdb_logs", "pg_settings", "pg_prepared_statements"})
LISTS = frozenset({"tables", "columns", "views", "schemata", "duckdb_tables", "duckdb_columns", "duckdb_views"})
"""DuckDB's own views that may be queried without approval."""
CONSISTENT = frozenset({"CONSISTENT", "CONSISTENT_WITHIN_QUERY"})
HARMLESS = frozenset(
    {"random", "uuid", "uuidv4", "uuidv7", "gen_random_uuid", "error", "grouping", "grouping_id", "unnest"}
)
"""Functions that are not marked consistent, or are part of the language."""
WORDS = re.compile(r"[\w ]+")


def run_duckdb(
    connection: Any,
    sql: str,
    without_approval: bool,
    *,
    allow_writes: bool,
    shared: SharedTables | None = None,
    take: Callable[[Any], Taken] = fetched,  # type: ignore[assignment]  # a default of a type variable
) -> Taken:
    """Run a query.

    `take` makes the result of the cursor that has run it: its rows, or a frame (`frame_taken`).
    """
    return _on_thread(
        connection, lambda cursor: take(_queried(cursor, sql, without_approval, allow_writes, shared))
    )


def duckdb_estimate(connection: Any, sql: str, shared: SharedTables | None) -> int:
    """Return the rows of the largest step of a query that has passed its check; raise what running it would."""

    def planned(cursor: Any) -> int:
        explained = f"EXPLAIN (FORMAT json) {checked_query(cursor, sql, True, shared)}"
        return duckdb_rows(json.loads(cursor.execute(explained).fetchone()[1]))

    return _on_thread(connection, planned)


def _on_thread(connection: Any, ask: Callable[[Any], Taken]) -> Taken:
    """Ask a cursor on a thread of its own: DuckDB checks for signals so rarely that a Stop could take a minute."""
    with (
        memory_limited(),
        closing(connection.cursor()) as cursor,
        ThreadPoolExecutor(1, "codeagent-duckdb") as thread,
    ):
        running = thread.submit(ask, cursor)
        try:
            return running.result()
        except BaseException:
            cursor.interrupt()
            raise


def _queried(cursor: Any, sql: str, without_approval: bool, allow_writes: bool, shared: SharedTables | None) -> Any:
    """Return the cursor that has run the query."""
    if allow_writes:
        _hide_variables(cursor)
        return cursor.execute(sql)
    _count_rows_scanned(cursor)
    return cursor.execute(checked_query(cursor, sql, without_approval, shared))


def checked_query(cursor: Any, sql: str, without_approval: bool, shared: SharedTables | None) -> str:
    """Return the statement to run, in a read-only transaction that has begun on the cursor.

    Raises
    ------
    PermissionError
    """
    _hide_variables(cursor)
    is_checked = without_approval or shared is not None
    check = _Check(cursor=cursor, without_approval=is_checked, shared=shared)
    # Looked up only where they may be called: DuckDB needs 50 ms to list its functions.
    own = check.own_macros if is_checked and shared is None else frozenset()
    statement = checked_statement(sql, "duckdb", shared, own=own) if is_checked else None
    check.statement(sql if statement is None else statement.text)
    if statement is not None:
        sql = statement.text if shared is None else shared.narrowed(statement)
    cursor.execute("BEGIN TRANSACTION READ ONLY")
    return sql


def _count_rows_scanned(cursor: Any) -> None:
    """Have DuckDB count, only on this cursor, the rows that its next query reads."""
    with suppress(Exception):  # the configuration is locked: nobody is told
        cursor.execute("SET enable_profiling = 'no_output'")


def _rows_scanned(cursor: Any) -> int:
    """Return the rows that the last query has read; 0 if DuckDB does not tell."""
    try:
        told = json.loads(cursor.get_profiling_information())
    except Exception:  # noqa: BLE001  (an older DuckDB, or nothing was counted)
        return 0
    query = told.get("query", told)
    return int(query.get("total_rows_scanned", query.get("cumulative_rows_scanned", 0)))


def _hide_variables(cursor: Any) -> None:
    """Set, only on this cursor, that `FROM df` is not a variable of the user's."""
    try:
        cursor.execute("SET python_enable_replacements = false")
    except Exception as problem:
        found = cursor.execute("SELECT system.main.current_setting('python_enable_replacements')").fetchone()[0]
        if found is not False:
            raise PermissionError(
                "the configuration of DuckDB is locked while queries find your variables"
            ) from problem


def frame_taken(cursor: Any) -> pd.DataFrame:
    """Return the frame that DuckDB itself makes of the rows, as `con.sql(…).df()` does.

    Raises
    ------
    ValueError
        There are too many rows, or too large ones.
    """

    parts: list[pd.DataFrame] = []
    rows = size_bytes = 0
    at_once = 1
    while not parts or len(parts[-1]):
        parts.append(cursor.fetch_df_chunk(at_once))
        part_bytes = _size_bytes(parts[-1])
        rows, size_bytes = rows + len(parts[-1]), size_bytes + part_bytes
        check_size(rows=rows, size_bytes=size_bytes)
        at_once = max(1, min(AT_ONCE_BYTES * at_once // max(part_bytes, 1), 2 * at_once, VECTORS_AT_ONCE))
    return with_rows_scanned(_joined(parts[:-1] or parts), _rows_scanned(cursor))


def _joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the parts as one frame; text of which a part has only missing values is text there, too."""
    import pandas as pd

    for at, kind in enumerate(parts[-1].dtypes):
        kinds = {str(part.dtypes.iloc[at]): part.dtypes.iloc[at] for part in parts}
        other = next((one for label, one in kinds.items() if label != "object"), kind)
        for part in parts if len(kinds) > 1 else ():
            if part.dtypes.iloc[at] != other and part.iloc[:, at].isna().all():
                part.isetitem(at, part.iloc[:, at].astype(other).array)
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def _size_bytes(frame: pd.DataFrame) -> int:
    """Return the size of all values; of lists and structs, too, which pandas does not look into."""
    import pandas as pd

    nested = (column for _, column in frame.items() if pd.api.types.infer_dtype(column) == "mixed")
    return int(frame.memory_usage(deep=True).sum()) + sum(value_bytes(list(column)) for column in nested)


# A user's macro with the name of a DuckDB function would answer in its place: hence `system.main`.

Name = tuple[str, str, str]
"""Catalog, schema and name in lower case; '' where a statement omits one."""


@dataclass(frozen=True, kw_only=True)
class _Check:
    """Checks one statement, and the macros and views that it uses; its methods raise PermissionError."""

    cursor: Any
    without_approval: bool
    """Whether the query has passed the SQL check: nobody is asked, or only some tables are shared."""
    shared: SharedTables | None = None
    seen: set[object] = field(default_factory=set)
    """Macros and views that are or were being checked."""

    @cached_property
    def _relations(self) -> dict[Name, list[_View]]:
        return _relations(self.cursor)

    @cached_property
    def _functions(self) -> dict[str, list[_Function]]:
        return _functions(self.cursor)

    @cached_property
    def _own_sources(self) -> frozenset[str]:
        """Table macros of the user, also those with the name of one of DuckDB's table functions."""
        rows = self.cursor.execute(
            "SELECT function_name FROM duckdb_functions() WHERE function_type LIKE 'table%' AND NOT internal"
        ).fetchall()
        return frozenset(name.lower() for (name,) in rows)

    @property
    def own_macros(self) -> frozenset[str]:
        """Names of the user's macros, whose parts are checked."""
        return frozenset(
            name for name, found in self._functions.items() if any(one.definition and one.is_own for one in found)
        )

    def statement(self, sql: str) -> None:
        """Check that the statement is a single SELECT, and check its parts."""
        self._tree(self._parsed(sql, "only one SELECT is allowed here"), in_view=False)

    def _tree(self, tree: Any, *, in_view: bool) -> None:
        """Check a parsed statement; `in_view`: of a view of the user, which states itself which files it reads."""
        nodes = list(json_nodes(tree))
        named = {
            str(entry.get("key")).lower()
            for node in nodes
            if isinstance(node.get("cte_map"), dict)
            for entry in node["cte_map"].get("map", [])
        }
        sources = [node["function"] for node in nodes if node.get("type") == "TABLE_FUNCTION"]
        for source in sources:
            self._source(source, in_view=in_view)
        for node in nodes:
            if node.get("type") == "BASE_TABLE":
                self._table(node, {name for name in named if WORDS.fullmatch(name)}, in_view=in_view)
            elif "function_name" in node and not any(node is source for source in sources):
                self._function(str(node["function_name"]).lower())

    def _table(self, node: Mapping[str, Any], named: set[str], *, in_view: bool) -> None:
        """Check the name of a table.

        DuckDB would open a name that is no table as a file, with ``catalog.schema.name`` as its path.
        A name that a WITH defines and that has no dot is not a file.
        """
        catalog, schema, table = (
            str(node.get(f"{part}_name", "")).lower() for part in ("catalog", "schema", "table")
        )
        name = (catalog, schema, table)
        is_long = len((node.get("qualified_name") or {}).get("path", ())) > len(name)
        if self.shared is not None and not in_view:
            self._shared_table(self.shared, name, named, is_long=is_long)
            return
        if name in self._relations and not is_long:
            for view in self._relations[name] if self.without_approval else ():
                self._view(view)
        elif is_long or catalog or schema or table not in named:
            if in_view and os.path.splitext(table)[1] in BY_EXTENSION:
                _require_local(table)
                return
            raise PermissionError(f"there is no table {'.'.join(filter(None, name))[:60]!r}")

    def _shared_table(self, shared: SharedTables, name: Name, named: set[str], *, is_long: bool) -> None:
        """Check the name of a table where only some are shared: alone, one of them or of a WITH."""
        table = name[-1]
        is_alone = not (is_long or name[0] or name[1])
        if is_alone and table in shared.by_name:
            if shared.by_name[table].query:
                return
            source = tuple(part.lower() for part in shared.by_name[table].source)
            for view in self._relations.get((source[0], source[1], source[2]), ()):
                self._view(view)
        elif not is_alone or table not in named or name in self._relations:
            raise PermissionError(f"there is no table {'.'.join(filter(None, name))[:60]!r}")

    def _view(self, view: _View) -> None:
        if view.internal:
            if view.name not in LISTS:
                raise PermissionError(f"{view.name[:60]} is not allowed here: query the tables")
            return
        if view in self.seen:
            return
        self.seen.add(view)
        try:
            _, select = split_view(view.name, view.sql)
        except VariableError as problem:
            raise PermissionError(str(problem)) from problem
        self._tree(self._parsed(select, f"the view {view.name[:60]} cannot be read"), in_view=True)

    def _source(self, function: Mapping[str, Any], *, in_view: bool) -> None:
        """Check the function of ``FROM function(…)``."""
        name = str(function.get("function_name")).lower()
        if name in READERS and in_view:
            for constant in (node for node in json_nodes(function) if node.get("type") == "VALUE_CONSTANT"):
                _require_local(json.dumps(constant))
        elif name not in TABLE_FUNCTIONS - (LISTING if self.shared else set()) or name in self._own_sources:
            raise PermissionError(f"{name[:60]}() is not allowed here: query the tables")

    def _function(self, name: str) -> None:
        if name in REFUSED_FUNCTIONS:
            raise PermissionError(f"{name}() is not allowed here: query the tables")
        found = self._functions.get(name, ())
        for macro in (one for one in found if one.definition):
            self._macro(macro)
        if not self.without_approval or name in HARMLESS:
            return
        brought = _brought_along()
        if not found or any(not (one.definition or (one.is_safe and name in brought)) for one in found):
            raise PermissionError(f"{name[:60]}() is not allowed without approval: use DuckDB's own")

    def _macro(self, macro: _Function) -> None:
        if macro in self.seen:
            return
        if self.shared is not None and macro.is_own:
            raise PermissionError(f"{macro.name[:60]}() is a macro of this database, which is not allowed here")
        self.seen.add(macro)
        self._tree(
            self._parsed(f"SELECT ({macro.definition})", f"the macro {macro.name[:60]} cannot be read"),
            in_view=False,
        )

    def _parsed(self, sql: str, otherwise: str) -> Any:
        parsed = json.loads(self.cursor.execute("SELECT system.main.json_serialize_sql(?)", [sql]).fetchone()[0])
        if parsed.get("error") or len(parsed.get("statements", [])) != 1:
            raise PermissionError(f"{otherwise}: {parsed.get('error_message', '')}"[:200])
        return parsed


def _require_local(path: str) -> None:
    if "://" in path:
        raise PermissionError("a view reads over the network")


@dataclass(frozen=True, kw_only=True)
class _Function:
    name: str
    definition: str
    """SQL of a macro; empty for other functions."""
    is_safe: bool
    """Whether DuckDB or an extension of its own brings it, and it is consistent."""
    is_own: bool
    """Whether the user has made it."""


def _functions(cursor: Any) -> dict[str, list[_Function]]:
    rows = cursor.execute(
        "SELECT function_name, function_type, macro_definition, internal, stability FROM duckdb_functions() "
        "WHERE function_type IN ('scalar', 'aggregate', 'window', 'macro')"
    ).fetchall()
    functions: dict[str, list[_Function]] = {}
    for name, kind, definition, internal, stability in rows:
        function = _Function(
            name=name,
            definition=str(definition or "") if kind == "macro" else "",
            is_safe=bool(internal) and stability in CONSISTENT,
            is_own=not internal,
        )
        functions.setdefault(name.lower(), []).append(function)
    return functions


@cache
def _brought_along() -> frozenset[str]:
    """Return the functions that DuckDB has without extensions of the user, which may do anything."""
    import duckdb

    with closing(duckdb.connect()) as own:
        rows = own.execute("SELECT function_name FROM duckdb_functions()").fetchall()
    return frozenset(name.lower() for (name,) in rows)


@dataclass(frozen=True, kw_only=True)
class _View:
    name: str
    sql: str
    internal: bool


def _relations(cursor: Any) -> dict[Name, list[_View]]:
    """Return the views of each name, an empty list for tables.

    A name is (catalog, schema, name), and each shorter form that finds the table or view.
    """
    found = cursor.execute(
        "SELECT database_name, schema_name, table_name, NULL, internal FROM duckdb_tables() "
        "UNION ALL SELECT database_name, schema_name, view_name, sql, internal FROM duckdb_views()"
    ).fetchall()
    searched = {"temp", "system", cursor.execute("SELECT system.main.current_database()").fetchone()[0].lower()}
    schemas = {
        schema.lower() for schema in cursor.execute("SELECT system.main.current_schemas(true)").fetchone()[0]
    }
    relations: dict[Name, list[_View]] = {}
    for *names, sql, internal in found:
        catalog, schema, name = (part.lower() for part in names)
        if catalog == "system" and name in REFUSED_VIEWS:
            continue
        views = [] if sql is None else [_View(name=name, sql=sql, internal=bool(internal))]
        for known in _names(catalog, schema, name, searched, schemas):
            relations.setdefault(known, []).extend(views)
    return relations


def _names(catalog: str, schema: str, name: str, searched: set[str], schemas: set[str]) -> Iterator[Name]:
    yield (catalog, schema, name)
    if schema == "main":
        yield ("", catalog, name)
    if catalog in searched:
        yield ("", schema, name)
        if schema in schemas:
            yield ("", "", name)


def duckdb_tables(connection: Any) -> Iterator[tuple[str, Sequence[str]]]:
    """List the tables without temporary ones, which belong to the user's own connection."""
    with closing(connection.cursor()) as cursor:
        yield from cursor.execute(
            "SELECT table_name, system.main.list(column_name ORDER BY column_index) FROM duckdb_columns() "
            "WHERE NOT internal GROUP BY table_name ORDER BY table_name"
        ).fetchall()


def duckdb_found(connection: Any, parts: Sequence[str]) -> list[KnownTable]:
    """Return the tables and views of this name: ``trips``, ``sales.trips``, ``other.sales.trips``.

    All of them for no parts.
    """
    with closing(connection.cursor()) as cursor:
        columns = cursor.execute(
            "SELECT database_name, schema_name, table_name, column_name, data_type FROM duckdb_columns() "
            "WHERE NOT internal AND database_name <> 'temp' ORDER BY table_name, column_index"
        ).fetchall()
    *around, name = [part.lower() for part in parts] or [""]
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for *source, column, kind in columns:
        database, schema, table = (part.lower() for part in source)
        is_wanted = table == name and around in ([], [schema], [database], [database, schema])
        if is_wanted or not parts:
            found.setdefault(tuple(source), {})[column] = kind
    return [KnownTable(source=source, columns=labels) for source, labels in found.items()]
