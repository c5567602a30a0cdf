"""Databases of the user's for code in the sandbox: each query is a call, and its rows come back as a frame.

An object has those methods of the user's own connection that run a query, so that the code runs there as it is:
DuckDB's `sql`, `execute` and `query`, and what `pandas.read_sql` needs of any other.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from string import Formatter
from typing import Any

from .ibis_tables import ibis_table

Ask = Callable[[str, dict[str, Any]], Any]
"""Function of (name of the database, arguments) that returns the rows as a frame, or raises the error."""


class Rows:
    """The rows of one query, by the names that DuckDB, SQLAlchemy and DB-API cursors have for them."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._rows = self._rows_of(frame)

    @staticmethod
    def _rows_of(frame: Any) -> Iterator[tuple[Any, ...]]:
        plain = frame.astype(object)
        yield from plain.where(frame.notna(), None).itertuples(index=False, name=None)

    @property
    def columns(self) -> list[str]:
        return list(self._frame.columns)

    @property
    def description(self) -> list[tuple[Any, ...]]:
        return [(name, None, None, None, None, None, None) for name in self._frame.columns]

    def df(self) -> Any:
        """Return the rows as a pandas frame."""
        return self._frame.copy()

    fetchdf = fetch_df = to_df = df

    def pl(self) -> Any:
        """Return the rows as a polars frame."""
        import polars as pl

        return pl.from_pandas(self._frame)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return list(self._rows)

    all = fetchall

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(self._rows, None)

    def fetchmany(self, size: int = 1) -> list[tuple[Any, ...]]:
        return [row for row, _ in zip(self._rows, range(size), strict=False)]

    def scalar(self) -> Any:
        """Return the first value."""
        row = self.fetchone()
        return row[0] if row else None

    def keys(self) -> list[str]:
        return self.columns

    def show(self) -> None:
        print(self._frame.to_string(index=False))

    def close(self) -> None:
        """Do nothing: the rows are here already."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._rows

    def __repr__(self) -> str:
        return str(self._frame.to_string(index=False))

    def _repr_html_(self) -> str:
        return str(self._frame._repr_html_())


class Database:
    """A database that the user lets code query, in place of the connection of the same name."""

    def __init__(self, ask: Ask, name: str, doc: str) -> None:
        self._ask = ask
        self._name = name
        self._doc = doc

    def _rows(self, sql: object, parameters: object = None) -> Rows:
        if parameters:
            raise TypeError(f"{self._name}: write values into the SQL, parameters are not passed on")
        return Rows(self._ask(self._name, {"sql": str(sql)}))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"{self._name} is a database, it has no {name!r}. {self._doc}")

    def __getitem__(self, key: object) -> Any:
        raise TypeError(f"{self._name} is a database, not a frame. {self._doc}")

    def __repr__(self) -> str:
        return f"{self._name}: {self._doc}"

    def close(self) -> None:
        """Do nothing: the connection is the user's."""


class DuckDB(Database):
    """In place of a `DuckDBPyConnection`."""

    def sql(self, query: object, *, params: object = None) -> Rows:
        """Run a query."""
        return self._rows(query, params)

    def query(self, query: object, *, params: object = None) -> Rows:
        """Run a query."""
        return self._rows(query, params)

    def execute(self, query: object, parameters: object = None) -> Rows:
        """Run a query."""
        return self._rows(query, parameters)


class QueryRows:
    """The rows of one query, in place of a frame that is still to be computed."""

    _advice = "here: write it in the SQL"

    def __init__(self, frame: Any, doc: str) -> None:
        self._frame = frame
        self._doc = doc

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"rows of a query have no {name!r} {self._advice}. {self._doc}")


class SparkRows(QueryRows):
    """The rows of one query, by the names that a DataFrame of Spark has for them."""

    @property
    def columns(self) -> list[str]:
        return list(self._frame.columns)

    def toPandas(self) -> Any:
        """Return the rows as a pandas frame."""
        return self._frame.copy()

    def show(self, n: int = 20, truncate: bool | int = True) -> None:
        print(self._frame.head(n).to_string(index=False))

    def __repr__(self) -> str:
        return str(self._frame.to_string(index=False))


class Spark(Database):
    """In place of a `SparkSession`."""

    def sql(self, sqlQuery: object, args: object = None, **frames: object) -> SparkRows:
        """Run a query; `frames` are the DataFrames that it names in braces."""
        if args:
            raise TypeError(f"{self._name}: write values into the SQL, parameters are not passed on")
        return SparkRows(self._ask(self._name, {"sql": _with_names(str(sqlQuery), frames)}), self._doc)


class SparkFrame(Database):
    """In place of a DataFrame of Spark."""

    @property
    def sparkSession(self) -> Spark:
        return Spark(self._ask, self._name, self._doc)

    def __format__(self, form: str) -> str:
        raise TypeError(f"{self._name} has no place in an f-string: write the query as plain text. {self._doc}")


class PolarsRows(QueryRows):
    """The rows of one query, by the name that a LazyFrame of Polars has for them."""

    _advice = "before they are collected"

    def collect(self) -> Any:
        return self._frame.clone()


class PolarsFrame(Database):
    """In place of a `polars.LazyFrame`."""

    def sql(self, query: object, *, table_name: str = "self") -> PolarsRows:
        """Run a query."""
        if table_name != "self":
            raise TypeError(f"{self._name}: leave table_name out. {self._doc}")
        return PolarsRows(self._ask(self._name, {"sql": str(query)}), self._doc)


class DuckDBRelation(Database):
    """In place of a `DuckDBPyRelation`."""

    def query(self, virtual_table_name: str, sql_query: object) -> Rows:
        """Run a query."""
        if virtual_table_name != self._name:
            raise TypeError(f"{self._name}: a query names it {self._name}. {self._doc}")
        return self._rows(sql_query)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        # What DuckDB's own `duckdb.sql("… FROM trips")` would call to have all rows.
        raise TypeError(f"{self._name} is a database, not a frame. {self._doc}")


def _with_names(sql: str, frames: dict[str, object]) -> str:
    """Return the query with the names of the user's DataFrames in braces; without frames braces are only text."""
    if not frames:
        return sql.replace("{", "{{").replace("}", "}}")
    pieces: list[str] = []
    # Small models forget the braces, and repeat themselves unless they see the query itself.
    written = re.sub(rf"(?i)\b(from|join)(\s+)({'|'.join(frames)})\b", r"\1\2{\3}", sql)
    if written != sql:
        raise ValueError(f"a DataFrame needs braces in the query. Write: {written}")
    for text, key, form, conversion in Formatter().parse(sql):
        pieces.append(text.replace("{", "{{").replace("}", "}}"))
        if key is None:
            continue
        frame = frames.get(key)
        if not isinstance(frame, SparkFrame) or form or conversion:
            raise TypeError(f"{{{key}}} is no DataFrame that is given with the query: write {{x}} … x=name")
        pieces.append(f"{{{frame._name}}}")
    return "".join(pieces)


class Cursor:
    """What `pandas.read_sql` takes rows from."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: Rows | None = None

    def execute(self, sql: object, parameters: object = None) -> Cursor:
        self._found = self._database._rows(sql, parameters)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._found is None:
            raise AttributeError(name)
        return getattr(self._found, name)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._found or ())

    def close(self) -> None:
        """Do nothing: the rows are here already."""


class Sqlite(Database):
    """In place of a `sqlite3.Connection`."""

    def cursor(self) -> Cursor:
        return Cursor(self)

    def execute(self, sql: object, parameters: object = None) -> Cursor:
        """Run a query."""
        return Cursor(self).execute(sql, parameters)

    def rollback(self) -> None:
        """Do nothing: a query changes nothing. `pandas.read_sql` calls it after an error."""


class Engine(Sqlite):
    """In place of a SQLAlchemy engine, and of its connections."""

    def connect(self) -> Engine:
        return self

    begin = connect

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class ServerEngine(Engine):
    """In place of an engine whose driver reads ``%`` in a query as the place of a value, and ``%%`` as ``%``."""

    def _rows(self, sql: object, parameters: object = None) -> Rows:
        return super()._rows(_as_driver_reads(sql) if isinstance(sql, str) else sql, parameters)


def _as_driver_reads(sql: str) -> str:
    if "%" in sql.replace("%%", ""):
        raise ValueError(f"in a query of this engine % is written %%. Write: {re.sub('%%?', '%%', sql)}")
    return sql.replace("%%", "%")


KINDS: dict[str, type[Database]] = {
    "duckdb": DuckDB,
    "sqlite3": Sqlite,
    "sqlalchemy": Engine,
    "sqlalchemy_percent": ServerEngine,
    "spark": Spark,
    "spark_frame": SparkFrame,
    "polars": PolarsFrame,
    "duckdb_relation": DuckDBRelation,
}
IBIS = "ibis_"


def create_database(ask: Ask, name: str, doc: str, kind: str, columns: Sequence[Sequence[str]] = ()) -> Any:
    """Return what stands for a database; for an Ibis table of `columns`, (name, type), a table of Ibis itself."""
    if kind.startswith(IBIS):
        try:
            return ibis_table(ask, name, kind.removeprefix(IBIS), columns)
        except ImportError as problem:
            return Database(ask, name, f"Ibis cannot be loaded here: {problem}.")
    # With the user's own connection pandas says nothing of the kind.
    warnings.filterwarnings("ignore", message="pandas only supports SQLAlchemy connectable")
    return KINDS[kind](ask, name, doc)
