"""DuckDB relations, views and read-only database files as SQL text, for a connection of the sandbox.

The SQL is parsed by DuckDB's own parser, on a connection that is not the user's. No query is run here.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from operator import methodcaller
from typing import Any

from jupyter_codeagent.sandbox.data.local_files import checked_file, expand_path
from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.variables import LocalFile

READERS = {
    "read_parquet": (".parquet",),
    "parquet_scan": (".parquet",),
    "read_csv": (".csv",),
    "read_csv_auto": (".csv",),
    "read_json": (".json",),
    "read_json_auto": (".json",),
    "read_ndjson": (".ndjson",),
    "read_ndjson_auto": (".ndjson",),
}
"""Table functions whose first argument is a file, a pattern, or a list of them; the extensions they read."""
BY_EXTENSION = {
    ".parquet": "read_parquet",
    ".csv": "read_csv_auto",
    ".tsv": "read_csv_auto",
    ".json": "read_json_auto",
    ".ndjson": "read_ndjson_auto",
    ".jsonl": "read_ndjson_auto",
}
WITHOUT_FILES = ("range", "generate_series", "unnest", "repeat")
VIEW = re.compile(
    r'(?is)\A(CREATE (?:TEMP(?:ORARY)? )?VIEW (?:"(?:[^"]|"")*+"|[^\s"(])++(?:\s*+\([^)]*+\))? AS )(.*)\Z'
)


class DeferredCall:
    """A call that unpickling makes, in place of its result: DuckDB's own objects cannot be pickled."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._call = (function, arguments)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._call


def relation_plan(name: str, relation: Any) -> tuple[DeferredCall, tuple[LocalFile, ...]]:
    """Return a relation over files as SQL, and the files that it reads.

    Raises
    ------
    VariableError
        If it needs a table, view or frame of the connection, or a file that the sandbox may not read.
    """
    select, files = _bind_query(name, relation.sql_query(), views=frozenset())
    return DeferredCall(methodcaller("sql", select), _connect_call()), files


def connection_plan(name: str, connection: Any) -> tuple[DeferredCall, tuple[LocalFile, ...]]:
    """Return a connection, in memory with views over files or to one file open for reading only, and its files.

    Raises
    ------
    VariableError
    """
    own = connection.cursor()  # the same database, without disturbing a result that the user may be reading
    try:
        attached = own.execute("SELECT path, readonly FROM duckdb_databases() WHERE NOT internal").fetchall()
        if len(attached) != 1:
            raise VariableError(f"{name!r} has {len(attached)} databases attached; one can be copied.")
        (path, read_only) = attached[0]
        if path:
            return _database_file(name, path, read_only=bool(read_only))
        tables = own.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal").fetchall()
        if tables:
            raise VariableError(
                f"{name!r} has tables in memory ({', '.join(row[0] for row in tables[:5])}), which are not copied "
                f"with it: assign what you need to a variable, such as t = {name}.table({tables[0][0]!r}).df()."
            )
        views = own.execute(
            "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY view_oid"
        ).fetchall()
    finally:
        own.close()
    if not views:
        raise VariableError(f"{name!r} is an empty DuckDB connection: there is nothing to copy.")
    names = frozenset(str(view).lower() for view, _ in views)
    opened = _connect_call()
    files: dict[str, LocalFile] = {}
    for _, sql in views:
        header, select = split_view(name, sql)
        select, found = _bind_query(name, select, views=names)
        files.update((file.path, file) for file in found)
        opened = DeferredCall(methodcaller("execute", header + select), opened)
    return opened, tuple(files.values())


def _database_file(name: str, path: str, *, read_only: bool) -> tuple[DeferredCall, tuple[LocalFile, ...]]:
    if not read_only:
        # DuckDB locks the file, so that no second process can open it; and recent changes may not be in it yet.
        raise VariableError(
            f"{name!r} has {path!r} open for writing, so no other process can read it: open it with "
            f"duckdb.connect({path!r}, read_only=True), or pass frames."
        )
    if os.path.exists(f"{path}.wal"):
        raise VariableError(
            f"{name!r}: {path!r} has changes that are not in the file yet (.wal): run CHECKPOINT first."
        )
    file = checked_file(name, path)
    return _connect_call(file.path, True), (file,)


def _connect_call(*arguments: Any) -> DeferredCall:
    """Return a call of `duckdb.connect`, by names: DuckDB's functions cannot be pickled either."""
    return DeferredCall(methodcaller("connect", *arguments), DeferredCall(import_module, "duckdb"))


def split_view(name: str, sql: str) -> tuple[str, str]:
    """Split the SQL of a view into the header up to AS, and the query."""
    parts = VIEW.match(sql)
    if parts is None:
        raise VariableError(f"{name!r} has a view that cannot be read: {sql[:100]}")
    return parts[1], parts[2].rstrip().removesuffix(";")


def _bind_query(name: str, select: str, *, views: frozenset[str]) -> tuple[str, tuple[LocalFile, ...]]:
    """Return the same query with the files that exist now, by their real paths, and these files."""
    tree = _parse(name, select)
    files: dict[str, LocalFile] = {}

    def replaced(path: str, extensions: Sequence[str]) -> list[LocalFile]:
        found, _ = expand_path(name, path.removeprefix("file://"), extensions)
        files.update((file.path, file) for file in found)
        return found

    common = {str(entry["key"]).lower() for node in _nodes(tree) for entry in _cte_entries(node)}
    for node in list(_nodes(tree)):
        if node.get("type") == "TABLE_FUNCTION":
            _bind_function(name, node["function"], replaced)
        elif node.get("type") == "BASE_TABLE":
            table = str(node["table_name"])
            reader = BY_EXTENSION.get(os.path.splitext(table)[1].lower())
            if table.lower() in views or (table.lower() in common):
                continue
            if reader is None:
                raise VariableError(
                    f"{name!r} reads {table!r}, a table or a frame of your kernel, which is not in the sandbox: "
                    "query files, or pass the result as a frame (.df())."
                )
            _replace_with_reader(node, reader, replaced(table, READERS[reader]))
    return _to_sql(tree), tuple(files.values())


def _bind_function(
    name: str, function: dict[str, Any], replaced: Callable[[str, Sequence[str]], list[LocalFile]]
) -> None:
    called = str(function["function_name"]).lower()
    if called in WITHOUT_FILES:
        return
    if called not in READERS:
        raise VariableError(f"{name!r} uses {called}(), which cannot be copied; {', '.join(READERS)} can.")
    arguments = function.get("arguments") or function["children"]
    first = arguments[0].get("expression", arguments[0])
    texts = [node for node in _nodes(first) if node.get("type") == "VALUE_CONSTANT"]
    # The parts of a computed expression, such as one with ||, are not paths.
    computed = any("class" in node and not _is_literal(node) for node in _nodes(first))
    paths = [path for text in texts for path in _strings(text)]
    if computed or not paths:
        raise VariableError(f"{name!r} uses {called}() with a path that is not a constant.")
    found = [file.path for path in paths for file in replaced(path, READERS[called])]
    template = _list_of(found)
    _set_argument(arguments[0], template)


def _is_literal(node: Mapping[str, Any]) -> bool:
    """Check for a constant, or a list of them."""
    return node["class"] == "CONSTANT" or "list_value" in (node.get("function_name"), node.get("type"))


def _set_argument(argument: dict[str, Any], files: dict[str, Any]) -> None:
    """Set an argument to files: DuckDB 1 has expressions as children, DuckDB 2 named arguments."""
    if "expression" in argument:
        argument["expression"] = files
    else:
        argument.clear()
        argument.update(files)


def _replace_with_reader(node: dict[str, Any], reader: str, files: Sequence[LocalFile]) -> None:
    """Turn ``FROM 'x.parquet'`` into a call of the reader: it would be looked up as a table first."""
    paths = ", ".join(_quoted(file.path) for file in files)
    alias = node.get("alias") or os.path.splitext(os.path.basename(str(node["table_name"])))[0]
    written = next(
        found
        for found in _nodes(_parse("", f"SELECT * FROM {reader}([{paths}])"))  # noqa: S608  (parsed, never run)
        if found.get("type") == "TABLE_FUNCTION"
    )
    kept = copy.deepcopy(written)
    kept["alias"] = alias
    kept["column_name_alias"] = node.get("column_name_alias", [])
    kept["sample"] = node.get("sample")
    node.clear()
    node.update(kept)


def _list_of(paths: Sequence[str]) -> dict[str, Any]:
    texts = ", ".join(map(_quoted, paths))
    tree = _parse("", f"SELECT * FROM read_parquet([{texts}])")  # noqa: S608  (parsed, never run)
    function = next(node for node in _nodes(tree) if node.get("type") == "TABLE_FUNCTION")["function"]
    argument = (function.get("arguments") or function["children"])[0]
    return dict(argument.get("expression", argument))


def _strings(constant: dict[str, Any]) -> list[str]:
    """Return the strings of a constant as DuckDB 2 writes it (`literal`), or DuckDB 1 (`value`)."""
    literal = constant.get("literal")
    if isinstance(literal, dict):
        return [literal["text"]] if literal.get("kind") == "STRING" else []
    value = constant.get("value", {}).get("value")
    return [value] if isinstance(value, str) else []


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _cte_entries(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of a WITH clause."""
    return list((node.get("cte_map") or {}).get("map", []))


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for item in list(node.values()):
            yield from _nodes(item)
    elif isinstance(node, list):
        for item in node:
            yield from _nodes(item)


def _parse(name: str, select: str) -> Any:
    import duckdb

    with duckdb.connect() as parser:
        row = parser.execute("SELECT json_serialize_sql(?)", [select]).fetchone()
    tree: dict[str, Any] = json.loads(row[0]) if row else {"error": True}
    if tree.get("error") or len(tree["statements"]) != 1:
        raise VariableError(f"{name!r} has a query that cannot be copied: {str(tree.get('error_message'))[:200]}")
    return tree


def _to_sql(tree: Any) -> str:
    import duckdb

    with duckdb.connect() as parser:
        row = parser.execute("SELECT json_deserialize_sql(?::JSON)", [json.dumps(tree)]).fetchone()
    return str(row[0]) if row else ""
