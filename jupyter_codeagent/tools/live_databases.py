"""Databases of the user's that a question names: code asks them where they lie, under their own names.

Each query is a call of a tool of the same name: checked as `sql_tool` with `tables=` checks it, decided by policy,
run on the user's connection, recorded. In the sandbox stands an object with the methods of that connection
(`sandbox/guest/databases.py`), so that the cell that is accepted runs on the connection itself.

"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.sandbox.data.engines import FRAMES, library_of
from jupyter_codeagent.tools.databases.own_queries import OwnCursors
from jupyter_codeagent.tools.databases.polars import TABLE
from jupyter_codeagent.tools.databases.spark import frame_found
from jupyter_codeagent.tools.databases.statements import TITLES, require_sqlglot
from jupyter_codeagent.tools.databases.table_sharing import (
    KnownTable,
    SharedTable,
    SharedTables,
    in_braces,
    shared_tables,
)
from jupyter_codeagent.tools.exceptions import explained
from jupyter_codeagent.tools.sql import Driver, driver_of
from jupyter_codeagent.tools.tool import Tool, tool_of
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.variables import Privacy, StubKind, ToolStub, VariableSummary
from jupyter_codeagent.variables.describers.databases import EXPRESSION
from jupyter_codeagent.variables.privacy.secret import private_text
from jupyter_codeagent.variables.text import safe

if TYPE_CHECKING:
    import pandas as pd

TIMEOUT_S = 60.0
MAX_TABLES = 50
MAX_TABLES_CHARS = 1500
"""Size of the tables, columns and types in the prompt."""
QUERIES: Mapping[StubKind, str] = {
    "duckdb": '{name}.sql("""{sql}""").df()',
    "sqlite3": 'pd.read_sql("""{sql}""", {name})',
    "sqlalchemy": 'pd.read_sql("""{sql}""", {name})',
    "sqlalchemy_percent": 'pd.read_sql("""{sql}""", {name})',
    "spark": '{name}.sql("""{sql}""").toPandas()',
    "polars": '{name}.sql("""{sql}""").collect()',
    "spark_frame": '{name}.sparkSession.sql("""{sql}""", {name}={name}).toPandas()',
    "duckdb_relation": '{name}.query("{name}", """{sql}""").df()',
    "ibis_duckdb": "{name}.aggregate(n={name}.count()).to_pandas()",
    "ibis_sqlite": "{name}.aggregate(n={name}.count()).to_pandas()",
}
IBIS: tuple[StubKind, ...] = ("ibis_duckdb", "ibis_sqlite")
NUMBERS = ("INT", "REAL", "FLOAT", "DOUBLE", "NUMERIC", "DECIMAL")
"""Words in the types of numbers."""
KEYS = ("id", "key", "code", "no", "num", "number")
MAX_JOINS = 5
MAX_NAME_CHARS = 60
MAX_TYPE_CHARS = 40
Named = Mapping[str, tuple[Any, Sequence[str]]]
"""Variable -> the connection or DataFrame, and the tables or columns that are named, none for all."""


@dataclass(frozen=True, kw_only=True)
class LiveDatabase:
    """A database that the code of one question may query."""

    tool: Tool
    headline: str
    """Its line in the prompt."""

    def described(self, summary: VariableSummary) -> VariableSummary:
        """Return the summary of the connection with the tables that are shared, and no column beside them."""
        return replace(summary, headline=self.headline, bare_headline=self.headline, columns=())


class LiveDatabases:
    """The databases of a session. The same question has the same function: a yes for all its queries stays one."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, SharedTables, Driver, Callable[..., Any]]] = {}
        self._connections: dict[str, int] = {}
        """Name -> how many connections it has had."""
        self._asked: dict[int, tuple[ToolStub, int, tuple[str, ...]]] = {}
        """By the id of a question's stub: the connection, by its number, and the tables and columns named."""

    def still_there(self, stubs: Sequence[ToolStub], values: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
        """Return the databases of a question that are the connection they were, with the tables that it named."""
        found = {}
        for stub in stubs:
            known = self._known.get(stub.name)
            _, connection, labels = self._asked.get(id(stub), (stub, 0, ()))
            is_same = known is not None and known[0] is values.get(stub.name)
            if is_same and self._connections[stub.name] == connection:
                found[stub.name] = labels
        return found

    def note_asked(self, stub: ToolStub, labels: Sequence[str]) -> None:
        """Note what a question asks, for those that follow it: `stub` is the one in its record."""
        self._asked[id(stub)] = (stub, self._connections[stub.name], tuple(labels))

    def find_all(self, named: Named, privacy: Privacy = "stats") -> dict[str, LiveDatabase]:
        """Return the databases of one question; a query may name all of its frames that have one connection.

        Raises
        ------
        UsageError
        """
        frames = {name: one for name, one in named.items() if library_of(one[0]) in FRAMES}
        return {name: self.find(name, *one, frames=frames, privacy=privacy) for name, one in named.items()}

    def find(
        self,
        name: str,
        connection: Any,
        labels: Sequence[str],
        *,
        frames: Named = MappingProxyType({}),
        privacy: Privacy = "stats",
    ) -> LiveDatabase:
        """Return the database with the tables and columns that are named, or all; asks it for their names.

        Raises
        ------
        UsageError
            It cannot be queried, or has no such table.
        """
        option = f"--vars {name}"
        try:
            driver = driver_of(connection)
            if driver is None:
                raise UsageError(f"{option}: it is not a database that can be queried.")
            require_sqlglot(option)
            if driver.dialect not in TITLES:
                raise UsageError(
                    f"{option}: queries of {driver.dialect} cannot be kept to reading; sql_tool(engine, "
                    "allow_writes=True) makes a function whose queries are each asked for."
                )
            driver.check(allow_writes=False)
            driver, shared = _with_tables(driver, name, connection, labels, frames)
        except UsageError as problem:
            raise UsageError(str(problem).replace("sql_tool", option, 1)) from problem
        except Exception as problem:
            # A driver can raise anything, and the user gets its message.
            raise UsageError(
                f"{option}: the database did not list its tables: {explained(problem).evalue}"
            ) from problem
        known = self._known.get(name)
        if known is None or known[0] is not connection:
            self._connections[name] = self._connections.get(name, 0) + 1
        if known is None or known[0] is not connection or known[1] != shared or not _same(known[2], driver):
            known = (connection, shared, driver, _query(driver, shared))
            self._known[name] = known
        # A database in the kernel is the user's alone; a server or a cluster has others who wait.
        tool = tool_of(
            known[3], name=name, policy="ask" if driver.has_others_waiting else "auto", timeout_s=TIMEOUT_S
        )
        kind = _kind(connection, driver)
        how = f"Write {QUERIES[kind].format(name=name, sql='SELECT …')}"
        stub = replace(
            tool.stub,
            kind=kind,
            doc=f"{how}; tables: {', '.join(shared.by_name)}"[:1000],
            columns=_columns(shared.by_name[in_braces(name).lower()]) if kind in IBIS else (),
        )
        estimate = partial(driver.estimate, shared=shared)
        return LiveDatabase(
            tool=replace(tool, stub=stub, estimate=estimate),
            headline=_headline(name, kind, driver, shared, privacy),
        )


def _kind(connection: Any, driver: Driver) -> StubKind:
    """Return what stands in the sandbox for the connection."""
    library = library_of(connection)
    assert library is not None
    if library == "ibis":
        return "ibis_duckdb" if driver.library == "duckdb" else "ibis_sqlite"
    reads_percent = library == "sqlalchemy" and connection.dialect.paramstyle in ("format", "pyformat")
    return "sqlalchemy_percent" if reads_percent else library


def _with_tables(
    driver: Driver, name: str, connection: Any, labels: Sequence[str], frames: Named
) -> tuple[Driver, SharedTables]:
    """Return how to query the database, and what of it is shared."""
    option = f"--vars {name}: "
    if driver.own is not None:
        return _with_own_queries(driver, name, {name: (connection, labels), **frames})
    if driver.library == "spark":
        of_spark = {key: one for key, one in frames.items() if library_of(one[0]) == "spark_frame"}
        here = {key: one for key, one in of_spark.items() if one[0].sparkSession is driver.connection}
        driver = replace(driver, named={key: frame for key, (frame, _) in here.items()})
        own = None if library_of(connection) == "spark_frame" else _shared(driver, labels, option)
        return driver, _with_frames(own, here)
    if driver.library == "polars":
        return driver, shared_tables({TABLE: labels or None}, "polars", driver.find, option=option)
    return driver, _shared(driver, labels, option)


def _with_own_queries(driver: Driver, name: str, frames: Named) -> tuple[Driver, SharedTables]:
    """Return how to ask a query of the user's, and what can be joined with it: of its library and connection."""
    own = {key: found.own for key, (frame, _) in frames.items() if (found := driver_of(frame)) and found.own}
    first = own[name]
    here = {
        key: one
        for key, one in own.items()
        if one.connection is first.connection and one.is_ibis == first.is_ibis
        if key == name or one.is_joined_by_name(key)
    }
    by_name: dict[str, SharedTable] = {}
    for key, one in here.items():
        if not one.reads_network:
            one.check()
        table = one.table(key)
        wanted = {table.source[0]: frames[key][1] or None}
        find = partial(_only, table)
        by_name |= shared_tables(wanted, driver.dialect, find, option=f"--vars {key}: ").by_name
    if driver.library == "duckdb":
        sql = "\n".join(one.sql for one in here.values())
        driver = replace(driver, connection=OwnCursors(first.connection, sql))
    named = {key: frames[key][0] for key in here}
    return replace(driver, named=named), SharedTables(by_name=by_name, dialect=driver.dialect)


def _only(table: KnownTable, _parts: Sequence[str]) -> list[KnownTable]:
    return [table]


def _shared(driver: Driver, labels: Sequence[str], option: str) -> SharedTables:
    if labels:
        return shared_tables(_wanted(labels, driver.find), driver.dialect, driver.find, option=option)
    known = [table for table in driver.find(()) if table.columns]
    if not known:
        raise UsageError(f"{option}the database has no tables.")
    if len(known) > MAX_TABLES:
        raise UsageError(
            f"{option}the database has {len(known)} tables: name those that the question is about, in brackets."
        )
    by_source = {".".join(table.source): table for table in known}
    return shared_tables([*by_source], driver.dialect, lambda parts: [by_source[".".join(parts)]], option=option)


def _with_frames(tables: SharedTables | None, frames: Named) -> SharedTables:
    """Return the tables of a session with the DataFrames of the question, which are named in braces."""
    by_name = dict(tables.by_name) if tables is not None else {}
    for name, (frame, labels) in frames.items():
        wanted = {in_braces(name): labels or None}
        found = shared_tables(wanted, "spark", partial(frame_found, name, frame), option=f"--vars {name}: ")
        by_name |= found.by_name
    return SharedTables(by_name=by_name, dialect="spark")


def _same(known: Driver, driver: Driver) -> bool:
    """Check whether both have the same DataFrames, which cannot be compared by ``==``."""
    one, other = known.named, driver.named
    return [*one] == [*other] and all(one[name] is other[name] for name in one)


def _wanted(
    labels: Sequence[str], find: Callable[[Sequence[str]], Sequence[KnownTable]]
) -> dict[str, list[str] | None]:
    """Return ``people.city, people.age, trips`` by table; None for all its columns."""
    wanted: dict[str, list[str] | None] = {}
    for label in labels:
        table, _, column = label.rpartition(".")
        if table and not find(label.split(".")):
            columns = wanted.setdefault(table, [])
            if columns is not None:
                columns.append(column)
        else:
            wanted[label] = None
    return wanted


def _query(driver: Driver, shared: SharedTables) -> Callable[[str], pd.DataFrame]:
    ask = driver.frames(shared, timeout_s=TIMEOUT_S)

    def query(sql: str) -> pd.DataFrame:
        frame: pd.DataFrame = ask(sql)
        return frame

    return query


def _headline(name: str, kind: StubKind, driver: Driver, shared: SharedTables, privacy: Privacy) -> str:
    """Return what the model reads: tables with columns and types, and how they are asked, with an example."""
    # Each frame of the question has a line of its own.
    left_out = {_table_of(kind, frame) for frame in driver.named if kind == "spark" or frame != name}
    shown = [table for table in shared.by_name.values() if table.name not in left_out]
    text = "; ".join(f"{_name(table.name)} ({_columns_text(table, privacy)})" for table in shown)
    text = _columns_text(shown[0], privacy) if kind in IBIS else text
    if len(text) > MAX_TABLES_CHARS:
        text = f"{text[:MAX_TABLES_CHARS].rpartition(', ')[0]}, …"
    # A query with columns in it is copied by small models as it is, whatever the question.
    widest = max(shown, key=lambda table: len(table.columns))
    example = QUERIES[kind].format(name=name, sql=f"SELECT COUNT(*) AS n FROM {_name(widest.name)}")  # noqa: S608
    title = TITLES[driver.dialect]
    joins = _joins(shared, privacy)
    if kind in IBIS:
        joined = joins.replace("{", "").replace("}", "")
        return (
            f"{name}: Ibis table over {title}, not copied, with the columns {text}.{joined} Ask it by Ibis, whose "
            f"to_pandas() gives a DataFrame: {example}"
        )
    if kind == "spark_frame" and len(driver.named) > 1:
        given = ", ".join(f"{frame}={frame}" for frame in driver.named)
        example += f" (with {' and '.join(map(in_braces, driver.named))}: {given})"
    if kind == "sqlalchemy_percent":
        example += " (write % as %%)"
    # Of a frame it says the same: where it was called one, a small model took it for a pandas frame.
    return (
        f"{name}: {title} database, not copied, with the tables {text}.{joins} Ask it in SQL of {title}, which "
        f"gives a DataFrame: {example}"
    )


def _table_of(kind: StubKind, name: str) -> str:
    """Return what queries call a frame."""
    return name if kind == "duckdb_relation" else in_braces(name)


def _columns(table: SharedTable) -> tuple[tuple[str, str], ...]:
    return tuple((column, table.types[column]) for column in table.columns)


def _columns_text(table: SharedTable, privacy: Privacy) -> str:
    return ", ".join(f"{_name(column, privacy)} {_type_text(table.types[column])}" for column in table.columns)


def _name(label: str, privacy: Privacy = "stats") -> str:
    """Return a name as the prompt has it: one line, and none that is an address or a key, or has values in it."""
    is_told = not private_text(label) and not (privacy == "schema" and EXPRESSION.search(label))
    return safe(label, MAX_NAME_CHARS) if is_told else "***"


def _type_text(kind: str) -> str:
    """Return a type without its values: an ENUM lists them."""
    name = kind.partition("(")[0].strip()
    return safe(name if "'" in kind or '"' in kind or name.upper() in ("ENUM", "SET") else kind, MAX_TYPE_CHARS)


def _joins(shared: SharedTables, privacy: Privacy) -> str:
    """Return which tables have a column of the same name that looks like a key: text, or a number that says so."""
    tables: dict[str, list[str]] = {}
    for table in shared.by_name.values():
        for column in table.columns:
            if not _is_number(table.types[column]) or column.lower().endswith(KEYS):
                tables.setdefault(_name(column, privacy), []).append(_name(table.name))
    joins = [f"{column} ({', '.join(names)})" for column, names in tables.items() if len(names) > 1]
    return f" Tables join on {', '.join(joins[:MAX_JOINS])}." if joins else ""


def _is_number(kind: str) -> bool:
    return any(word in kind.upper() for word in NUMBERS)
