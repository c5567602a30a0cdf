"""Remote frames (Dask, Ibis, Spark, Modin, Ray): the user's own engine fetches a part of the rows.

That may be real work for a cluster, so it is done only for a variable that the user named, with `--sample`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from jupyter_codeagent.sandbox.data.condition import Condition
from jupyter_codeagent.sandbox.data.subset import SEED, Subset, SubsetRequest
from jupyter_codeagent.types.errors import VariableError


@dataclass(frozen=True, kw_only=True)
class Engine:
    """How to get a part of a frame of one library."""

    name: str
    columns: Callable[[Any], list[str]]
    select: Callable[[Any, list[str]], Any]
    where: Callable[[Any, Condition], Any]
    fetch: Callable[[Any, int], Any]
    """Fetches at most so many rows, as pandas."""
    rows_label: str
    """Which rows are fetched: ``first rows``, ``random sample``."""


def engine_of(value: object) -> Engine | None:
    """Return the engine behind a frame, by the name of its type; nothing is imported."""
    for kind in type(value).__mro__:
        package = kind.__module__.partition(".")[0]
        if (package, kind.__name__) in ENGINES:
            return ENGINES[package, kind.__name__]
    return None


Library = Literal["duckdb", "sqlite3", "sqlalchemy", "spark", "spark_frame", "polars", "duckdb_relation", "ibis"]


def library_of(value: object) -> Library | None:
    """Return the library of a connection to a database that code can query; None for any other value.

    A frame of Spark or Polars, a DuckDB relation and an Ibis table are queried, too; a frame of Spark Connect or
    pandas-on-Spark is not.
    """
    if any(kind.__module__.startswith(NOT_QUERIED) for kind in type(value).__mro__):
        return None
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(value).__mro__}
    return next((library for kind, library in CONNECTIONS.items() if kind in kinds), None)


def is_database(value: object) -> bool:
    """Check for a connection to a database: it has no rows of its own, only results of queries."""
    kind = type(value)
    is_opened = kind.__module__.partition(".")[0] == "sqlalchemy" and kind.__name__ == "Connection"
    return is_opened or library_of(value) not in (None, *FRAMES)


def format_copy_advice(name: str, value: object) -> str:
    """Return why the value is not copied as it is, and what to write instead."""
    if library_of(value) == "spark":
        return f"{name!r} is a Spark session, which is not copied: `--vars {name}` lets the code query it."
    engine = engine_of(value)
    if engine is not None and library_of(value) in FRAMES:
        what = "an Ibis table" if engine is IBIS else f"a {engine.name} frame"
        return (
            f"{name!r} is {what}, whose rows are not in this kernel: `--vars {name}` lets the code query it "
            f"in place; `--vars {name} --sample 100000` has {engine.name} fetch that many and copies them."
        )
    if library_of(value) is not None:
        return (
            f"{name!r} is a database, which is not copied: `--vars {name}` lets the code query it; or run your "
            f"query first, such as t = pd.read_sql('SELECT …', {name}), and name its result."
        )
    if is_database(value):
        return (
            f"{name!r} is a connection of SQLAlchemy, which cannot be copied: name its engine, or run your query "
            f"first, such as t = pd.read_sql('SELECT …', {name}), and name its result."
        )
    kind = engine.name if engine is not None else type(value).__name__
    return (
        f"{name!r} is a {kind} frame, whose rows are not in this kernel: `--vars {name} --sample 100000` has "
        f"{kind} fetch that many and copies them."
    )


def fetch(name: str, value: Any, wanted: SubsetRequest) -> Subset:
    """Fetch the part that `--vars`, `--where` and `--sample` ask for, as a pandas frame.

    Main thread: the engine runs the query there.

    Raises
    ------
    VariableError
    """
    engine = engine_of(value)
    if engine is None or wanted.sample is None:
        raise VariableError(format_copy_advice(name, value))
    labels = engine.columns(value)
    missing = [column for column in wanted.columns if column not in labels]
    if missing:
        raise VariableError(f"{name!r} has no column {missing[0]!r}.")
    where = wanted.where if wanted.where is not None and set(wanted.where.names) <= set(labels) else None
    try:
        part = value if where is None else engine.where(value, where)
        if wanted.columns:
            part = engine.select(part, [label for label in labels if label in wanted.columns])
        result = engine.fetch(part, wanted.sample)
    except Exception as problem:
        # A foreign engine can raise anything, and the user gets its message.
        text = " ".join(str(problem).split())[:300]
        raise VariableError(
            f"{engine.name} could not fetch {name!r}: {type(problem).__name__}: {text}"
        ) from problem
    chosen = f" where {where.text}" if where is not None else ""
    rows = f"{engine.rows_label}, {len(result)} rows" if len(result) == wanted.sample else f"all {len(result)} rows"
    parts = [f"{rows}{chosen}, fetched by {engine.name}"]
    if wanted.columns and len(wanted.columns) < len(labels):
        parts.append(f"{len(wanted.columns)} of {len(labels)} columns")
    return Subset(value=result, note="; ".join(parts))


class _Operators:
    """Columns that support Python's operators and `isin`."""

    def __init__(self, frame: Any, is_in: str) -> None:
        self._frame = frame
        self._is_in = is_in

    def column(self, name: str) -> Any:
        return self._frame[name]

    def literal(self, value: Any, compared_with: str | None) -> Any:
        if compared_with is None or not isinstance(value, str):
            return value
        kind = str(getattr(self._frame[compared_with], "dtype", "")).lower()
        return datetime.datetime.fromisoformat(value) if "datetime" in kind or "timestamp" in kind else value

    def is_in(self, column: Any, values: list[Any]) -> Any:
        return getattr(column, self._is_in)(values)


def _dask_fetch(frame: Any, rows: int) -> Any:
    """Fetch a random sample of exactly `rows` rows.

    Dask samples a fraction of each partition, so the length is needed first: one more pass over the data.
    """
    length = int(frame.shape[0].compute())
    if length <= rows:
        return frame.compute()
    part = frame.sample(frac=min(1.0, rows * 1.1 / length + 10 / length), random_state=SEED).compute()
    return part.iloc[:rows] if len(part) <= rows else part.sample(rows, random_state=SEED).sort_index()


def _spark_fetch(frame: Any, rows: int) -> Any:
    length = frame.count()
    if length <= rows:
        return frame.toPandas()
    return frame.sample(fraction=min(1.0, rows * 1.1 / length + 10 / length), seed=SEED).limit(rows).toPandas()


def _modin_fetch(frame: Any, rows: int) -> Any:
    part = frame if len(frame) <= rows else frame.sample(rows, random_state=SEED).sort_index()
    return part._to_pandas()  # what `modin.utils.to_pandas` calls


def _ray_where(frame: Any, condition: Condition) -> Any:
    raise VariableError(f"--where {condition.text!r} is not passed on to Ray: filter the Dataset first.")


def _by_operators(is_in: str, apply: Callable[[Any, Any], Any]) -> Callable[[Any, Condition], Any]:
    return lambda frame, condition: apply(frame, condition.evaluate(_Operators(frame, is_in)))


DASK = Engine(
    name="Dask",
    columns=lambda frame: [str(label) for label in frame.columns],
    select=lambda frame, columns: frame[columns],
    where=_by_operators("isin", lambda frame, mask: frame[mask]),
    fetch=_dask_fetch,
    rows_label="random sample",
)
IBIS = Engine(
    name="Ibis",
    columns=lambda table: list(table.columns),
    select=lambda table, columns: table.select(columns),
    where=_by_operators("isin", lambda table, mask: table.filter(mask)),
    fetch=lambda table, rows: table.limit(rows).to_pandas(),
    rows_label="the first rows, not a random sample",
)
SPARK = Engine(
    name="Spark",
    columns=lambda frame: list(frame.columns),
    select=lambda frame, columns: frame.select(*columns),
    where=_by_operators("isin", lambda frame, mask: frame.filter(mask)),
    fetch=_spark_fetch,
    rows_label="random sample",
)
MODIN = replace(DASK, name="Modin", fetch=_modin_fetch)
RAY = Engine(
    name="Ray",
    columns=lambda dataset: list(dataset.schema().names),
    select=lambda dataset, columns: dataset.select_columns(columns),
    where=_ray_where,
    fetch=lambda dataset, rows: dataset.limit(rows).to_pandas(),
    rows_label="the first rows, not a random sample",
)
CONNECTIONS: dict[tuple[str, str], Library] = {
    ("duckdb", "DuckDBPyConnection"): "duckdb",
    ("_duckdb", "DuckDBPyConnection"): "duckdb",
    ("sqlite3", "Connection"): "sqlite3",
    ("sqlalchemy", "Engine"): "sqlalchemy",
    ("pyspark", "SparkSession"): "spark",
    ("pyspark", "DataFrame"): "spark_frame",
    ("polars", "LazyFrame"): "polars",
    ("duckdb", "DuckDBPyRelation"): "duckdb_relation",
    ("_duckdb", "DuckDBPyRelation"): "duckdb_relation",
    ("ibis", "Table"): "ibis",
}
FRAMES: tuple[Library, ...] = ("spark_frame", "polars", "duckdb_relation", "ibis")
"""Those whose values are frames, of which rows can be copied."""
NOT_QUERIED = ("pyspark.sql.connect", "pyspark.pandas")
"""Modules of classes with the same names."""
ENGINES: dict[tuple[str, str], Engine] = {
    ("dask", "DataFrame"): DASK,
    ("dask_expr", "DataFrame"): DASK,
    ("ibis", "Table"): IBIS,
    ("pyspark", "DataFrame"): SPARK,
    ("modin", "DataFrame"): MODIN,
    ("ray", "Dataset"): RAY,
}
